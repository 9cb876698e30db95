"""Words that are removed: the edits of a text that metrics ask the model about."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
import torch

from pellucid.base.checks import at_least, between, one_of
from pellucid.base.errors import BadSetting
from pellucid.comparison.case import Case, Judged, Reference
from pellucid.results.heaviest_spans import heaviest_choices
from pellucid.run.batch import Operator, Row
from pellucid.run.blank import generator_for
from pellucid.text.ranges import mean_of_orders, top_count
from pellucid.text.units import Kind

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

    normalised: as a share of the fall without any unit, cut to 0 to 1; nan where that fall is not above 0. Carton,
    Rathore & Tan (2020), "Evaluating and Characterizing Human Rationales", section 4: a model that answers the empty
    text alike cannot lose anything.
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
    values = [rows[:, label] for rows, label in explained]
    edited = [value[1:-1] if normalised else value[1:] for value in values]  # [order fraction], flat
    means = [mean_of_orders(value.reshape(-1, len(fractions))).mean() for value in edited]
    if normalised:
        return np.array(
            [_share(value[0] - mean, value[0] - value[-1]) for value, mean in zip(values, means, strict=True)]
        )
    return np.array([value[0] - mean for value, mean in zip(values, means, strict=True)])


def _share(fall: float, fall_of_all: float) -> float:
    """A fall as a share of the fall without any unit."""
    return float(np.clip(fall / fall_of_all, 0, 1)) if fall_of_all > 0 else float("nan")


# What the hiding and the revealing game share: the model's predictions while a text's units are hidden in order.
#
# "Decoding Layer Saliency in Transformers", appendix A.1; grid, rounding and area are corrections.md A1.17.


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
    """[example point], 0 to 1: whether the model's class is the reference class while units are hidden, the mean over
    orders.

    orders: for each example one or several orders of its units.
    """
    at_least("steps", steps, 1)
    one_of("reference", reference, get_args(Reference))
    wanted = case.classes(reference)
    counts = [hidden_counts(len(of_example[0]), steps) for of_example in orders]
    stages = [sorted(set(points)) for points in counts]  # a short text has fewer stages than the curve has points
    variants = [
        [case.without(example, order[:count], unit, operator) for order in of_example for count in stage]
        for example, (of_example, stage) in enumerate(zip(orders, stages, strict=True))
    ]
    judged = zip(case.predictions(variants), wanted, stages, counts, strict=True)
    return np.array(
        [
            mean_of_orders((classes == label).astype(float).reshape(-1, len(stage)))[np.searchsorted(stage, points)]
            for classes, label, stage, points in judged
        ]
    )


def area(curve: np.ndarray) -> Judged:
    """[example point] -> the area under each example's curve over [0, 1], by trapezoids."""
    grid = np.linspace(0.0, 1.0, curve.shape[1])
    return Judged(np.trapezoid(curve, grid, axis=1)[:, None], curve=curve, grid=grid)


# What the span metrics share: the heaviest spans of each explained text, read alone or removed from it.


def evidence(case: Case, n_spans: int, unit: Kind) -> list[tuple[Kind, list[list[range]]]]:
    """For each example the kind of units, and its heaviest spans as ranges of these units: several choices where spans
    are equally heavy.

    unit: spans are built of such units where the explanation does not score spans.
    """
    at_least("n_spans", n_spans, 1)
    return [heaviest_choices(explanation, unit, n_spans) for explanation in case.explanations]


def numbers_of(ranges: Sequence[range]) -> list[int]:
    """The units of several ranges."""
    return [unit for span in ranges for unit in span]


def alone(case: Case, example: int, kind: Kind, units: Sequence[int], operator: Operator) -> Row:
    """The example's row with these units of its text and no others."""
    rest = set(range(len(case.batch.pieces_of(example, kind)))) - set(units)
    return case.without(example, sorted(rest), kind, operator)


def falls(case: Case, edited: Sequence[Sequence[Row]]) -> np.ndarray:
    """[example]: p(explained class | text) - p(explained class | its edited row), the mean over its edited rows."""
    variants = [[row, *rows] for row, rows in zip(case.batch.rows, edited, strict=True)]
    explained = zip(case.probabilities(variants), case.explained_classes(), strict=True)
    return np.array([mean_of_orders(rows[:1, label] - rows[1:, label]) for rows, label in explained])


# Random sets of a text's units, drawn from the text's content: the same for every method, so that edited texts run
# once for all.


@dataclass(frozen=True)
class RandomEdits:
    """Of one text: removed [edit unit] 0 or 1, and falls [edit], p(whole text) - p(text without them) of the explained
    class.
    """

    removed: np.ndarray
    falls: np.ndarray


def random_edits(
    case: Case, purpose: str, n_edits: int, *, unit: Kind, operator: Operator, seed: int
) -> list[RandomEdits]:
    """For each example `n_edits` sets of 1 to n - 1 of its n units, each size as likely; none where it has one unit or
    less.
    """
    at_least("n_edits", n_edits, 2)
    sets = [
        _sets(case, example, purpose, n_edits, len(scores), seed) for example, scores in enumerate(case.scores(unit))
    ]
    variants = [
        [
            case.batch.rows[example],
            *(case.without(example, np.flatnonzero(mask).tolist(), unit, operator) for mask in of_text),
        ]
        for example, of_text in enumerate(sets)
    ]
    answers = zip(case.probabilities(variants), case.explained_classes(), strict=True)
    falls = [rows[0, label] - rows[1:, label] for rows, label in answers]
    return [RandomEdits(*pair) for pair in zip(sets, falls, strict=True)]


def _sets(case: Case, example: int, purpose: str, n_edits: int, n_units: int, seed: int) -> np.ndarray:
    """[edit unit]: 1 where a unit is taken out."""
    if n_units < 2:
        return np.zeros((0, n_units))
    generator = generator_for(case.batch.rows[example], purpose, seed)
    sizes = torch.randint(1, n_units, (n_edits,), generator=generator)
    ranks = torch.rand(n_edits, n_units, generator=generator, dtype=torch.float32).argsort(1).argsort(1)
    return (ranks < sizes[:, None]).double().numpy()
