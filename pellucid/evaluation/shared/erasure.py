"""What comprehensiveness and sufficiency share: probabilities of the explained class for edited texts.

DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models", section 4.2.
"""

from collections.abc import Callable, Sequence

import numpy as np

from pellucid.core.foundation.checks import between
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.passes.batch import Operator
from pellucid.core.text.ranges import top_count
from pellucid.core.text.tied_units import mean_of_orders
from pellucid.core.text.units import Kind
from pellucid.evaluation.shared.case import Case

FRACTIONS = (0.01, 0.05, 0.1, 0.2, 0.5)
Removed = Callable[[list[int], int], list[int]]  # units by score, count -> the units that are removed


def mean_fall(
    case: Case,
    removed: Removed,
    *,
    fractions: Sequence[float],
    unit: Kind,
    operator: Operator,
    normalised: bool = False,
) -> np.ndarray:
    """[example]: p(whole text) - p(text without `removed(order, count)`), averaged over fractions.

    normalised: as a share of the fall without any unit, cut to 0 to 1; nan where that fall is not above 0. Carton, Rathore & Tan
    (2020), "Evaluating and Characterizing Human Rationales", section 4: a model that answers the empty text alike cannot lose
    anything.
    """
    if not fractions:
        raise BadSetting("fractions is empty; give at least one share of the text, such as (0.1, 0.2, 0.5).")
    for fraction in fractions:
        between("fractions", fraction, 0.0, 1.0)
    variants = []
    for example, orders in enumerate(case.orders(unit)):
        counts = [top_count(len(orders[0]), fraction) for fraction in fractions]
        edits = [removed(order, count) for order in orders for count in counts]
        everything = [orders[0]] if normalised else []
        rows = [case.without(example, edit, unit, operator) for edit in [*edits, *everything]]
        variants.append([case.batch.rows[example], *rows])
    explained = zip(case.probabilities(variants), case.explained_classes(), strict=True)
    values = [rows[:, number] for rows, number in explained]
    edited = [one[1:-1] if normalised else one[1:] for one in values]  # [order fraction], flat
    means = [mean_of_orders(one.reshape(-1, len(fractions))).mean() for one in edited]
    if normalised:
        return np.array(
            [_share(one[0] - mean, one[0] - one[-1]) for one, mean in zip(values, means, strict=True)]
        )
    return np.array([one[0] - mean for one, mean in zip(values, means, strict=True)])


def _share(fall: float, fall_of_all: float) -> float:
    """A fall as a share of the fall without any unit."""
    return float(np.clip(fall / fall_of_all, 0, 1)) if fall_of_all > 0 else float("nan")
