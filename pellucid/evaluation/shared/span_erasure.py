"""What the span metrics share: the heaviest spans of each explained text, read alone or removed from it."""

from collections.abc import Sequence

import numpy as np

from pellucid.core.foundation.checks import at_least
from pellucid.core.passes.batch import Operator, Row
from pellucid.core.results.heaviest_spans import heaviest_choices
from pellucid.core.text.tied_units import mean_of_orders
from pellucid.core.text.units import Kind
from pellucid.evaluation.shared.case import Case


def evidence(case: Case, n_spans: int, unit: Kind) -> list[tuple[Kind, list[list[range]]]]:
    """For each example the kind of units, and its heaviest spans as ranges of these units: several choices where spans are equally heavy.

    unit: spans are built of such units where the explanation does not score spans.
    """
    at_least("n_spans", n_spans, 1)
    return [heaviest_choices(explanation, unit, n_spans) for explanation in case.explanations]


def numbers_of(ranges: Sequence[range]) -> list[int]:
    """The units of several ranges."""
    return [number for one in ranges for number in one]


def alone(case: Case, example: int, kind: Kind, units: Sequence[int], operator: Operator) -> Row:
    """The example's row with these units of its text and no others."""
    rest = set(range(len(case.batch.pieces_of(example, kind)))) - set(units)
    return case.without(example, sorted(rest), kind, operator)


def falls(case: Case, edited: Sequence[Sequence[Row]]) -> np.ndarray:
    """[example]: p(explained class | text) - p(explained class | its edited row), the mean over its edited rows."""
    variants = [[row, *rows] for row, rows in zip(case.batch.rows, edited, strict=True)]
    explained = zip(case.probabilities(variants), case.explained_classes(), strict=True)
    return np.array([mean_of_orders(rows[:1, number] - rows[1:, number]) for rows, number in explained])
