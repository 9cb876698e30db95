"""Deletion: how many right answers stay while the k best-scored words are taken out.

Wu & Ong (2021), "On Explaining Your Explanations of BERT", section 4.1, Figure 1.
"""

from typing import get_args

import numpy as np

from pellucid.core.foundation.checks import at_least, one_of
from pellucid.core.foundation.kinds import metrics
from pellucid.core.passes.batch import Operator
from pellucid.core.text.tied_units import mean_of_orders
from pellucid.core.text.units import Kind
from pellucid.evaluation.shared.case import Case, Judged, Reference


@metrics.add(
    better="lower",
    lowest=0.0,
    highest=1.0,
    usual=False,
    curve_axis="units taken out, highest scores first",
    curve_reading="a good method’s line falls early",
)
def deletion(
    case: Case,
    *,
    most: int = 10,
    unit: Kind = "word",
    operator: Operator = "delete",
    reference: Reference = "prediction",
) -> Judged:
    """Share of 1 to `most` taken-out units at which the answer is still right; 0 to 1, lower is better.

    most: units taken out at most; texts with no more units than that are not judged, since nothing of them would stay. reference: what is right,
    the label ("gold", where texts that the model answers wrongly at first are not judged) or the model's own "prediction" for
    the whole text. operator: "pad" is what the paper's code does (corrections.md A2.9).
    """
    at_least("most", most, 1)
    one_of("reference", reference, get_args(Reference))
    wanted, orders = case.classes(reference), case.orders(unit)
    variants = [  # of a text that is not judged the whole text alone
        [
            case.without(example, order[:count], unit, operator)
            for order in of_example
            for count in range(most + 1 if len(order) > most else 1)
        ]
        for example, of_example in enumerate(orders)
    ]
    judged = zip(case.predictions(variants), wanted, orders, strict=True)
    curve = np.array(
        [
            _right(classes, label, most + 1) if len(of_example[0]) > most else np.full(most + 1, np.nan)
            for classes, label, of_example in judged
        ]
    )
    return Judged(curve[:, 1:].mean(1)[:, None], curve=curve, grid=np.arange(most + 1, dtype=float))


def _right(classes: np.ndarray, label: int, points: int) -> np.ndarray:
    """[point]: whether the answer is right, the mean over orders; nan for a text whose answer is wrong at first.

    classes: [order point], flat.
    """
    if classes[0] != label:
        return np.full(points, np.nan)
    return mean_of_orders((classes == label).astype(float).reshape(-1, points))
