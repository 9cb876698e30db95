"""What the hiding and the revealing game share: the model's predictions while a text's units are hidden in order.

"Decoding Layer Saliency in Transformers", appendix A.1; grid, rounding and area are corrections.md A1.17.
"""

from collections.abc import Sequence
from typing import get_args

import numpy as np

from pellucid.core.foundation.checks import at_least, one_of
from pellucid.core.passes.batch import Operator
from pellucid.core.text.tied_units import mean_of_orders
from pellucid.core.text.units import Kind
from pellucid.evaluation.shared.case import Case, Judged, Reference


def hidden_counts(units: int, steps: int) -> list[int]:
    """[point]: how many of a text's units are hidden at each of steps + 1 even shares, rounded half up."""
    # in whole numbers: in floating point .55 * 10 is 5.500000000000001
    return [(2 * step * units + steps) // (2 * steps) for step in range(steps + 1)]


def still_right(
    case: Case,
    orders: Sequence[Sequence[Sequence[int]]],
    *,
    unit: Kind,
    operator: Operator,
    steps: int,
    reference: Reference,
) -> np.ndarray:
    """[example point], 0 to 1: whether the model's class is the reference class while units are hidden, the mean over orders.

    orders: for each example one or several orders of its units.
    """
    at_least("steps", steps, 1)
    one_of("reference", reference, get_args(Reference))
    wanted = case.classes(reference)
    counts = [hidden_counts(len(of_example[0]), steps) for of_example in orders]
    stages = [
        sorted(set(points)) for points in counts
    ]  # a short text has fewer stages than the curve has points
    variants = [
        [case.without(example, order[:count], unit, operator) for order in of_example for count in stage]
        for example, (of_example, stage) in enumerate(zip(orders, stages, strict=True))
    ]
    judged = zip(case.predictions(variants), wanted, stages, counts, strict=True)
    return np.array(
        [
            mean_of_orders((classes == label).astype(float).reshape(-1, len(stage)))[
                np.searchsorted(stage, points)
            ]
            for classes, label, stage, points in judged
        ]
    )


def area(curve: np.ndarray) -> Judged:
    """[example point] -> the area under each example's curve over [0, 1], by trapezoids."""
    grid = np.linspace(0.0, 1.0, curve.shape[1])
    return Judged(np.trapezoid(curve, grid, axis=1)[:, None], curve=curve, grid=grid)
