"""What comprehensiveness and sufficiency share: probabilities of the explained class for edited texts.

DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models", section 4.2.
"""

from collections.abc import Callable, Sequence

import numpy as np

from pellucid.core.foundation.checks import between
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.passes.batch import Operator
from pellucid.core.text.ranges import top_count
from pellucid.core.text.units import Kind
from pellucid.evaluation.shared.case import Case

FRACTIONS = (0.01, 0.05, 0.1, 0.2, 0.5)
Removed = Callable[[list[int], int], list[int]]  # units by score, count -> the units that are removed


def mean_fall(
    case: Case, removed: Removed, *, fractions: Sequence[float], unit: Kind, operator: Operator
) -> np.ndarray:
    """[example]: p(whole text) - p(text without `removed(order, count)`), averaged over fractions."""
    if not fractions:
        raise BadSetting("fractions is empty; give at least one share of the text, such as (0.1, 0.2, 0.5).")
    for fraction in fractions:
        between("fractions", fraction, 0.0, 1.0)
    variants = []
    for example, order in enumerate(case.orders(unit)):
        edits = (removed(order, top_count(len(order), fraction)) for fraction in fractions)
        variants.append(
            [case.batch.rows[example], *(case.without(example, edit, unit, operator) for edit in edits)]
        )
    explained = zip(case.probabilities(variants), case.explained_classes(), strict=True)
    return np.array([rows[0, number] - rows[1:, number].mean() for rows, number in explained])
