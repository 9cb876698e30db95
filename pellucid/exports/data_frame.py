"""Explanations as a pandas table: one row a unit."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from pellucid.core.foundation.checks import every
from pellucid.core.foundation.optional_package import optional_package
from pellucid.core.results.explanation import Explanation
from pellucid.core.text.units import SPECIAL, Spans

if TYPE_CHECKING:
    import pandas


def to_data_frame(explanations: Sequence[Explanation]) -> "pandas.DataFrame":
    """One row a unit: its example, its place in the text, its text and its raw score; needs the package pandas.

    Where scores have rows (layers, heads, draws), each kind of row is a column, and a unit has one table row for each.
    """
    explanations = every("explanations", explanations, Explanation, "give what explain or read returned")
    pandas = optional_package("pandas")
    return pandas.DataFrame([row for explanation in explanations for row in _rows(explanation)])


def _rows(explanation: Explanation) -> Iterator[dict[str, Any]]:
    """The table's rows of one explanation, in reading order."""
    kinds = [kind for kind, _ in explanation.rows]
    about = {
        "id": explanation.example.id,
        "label": explanation.example.label,
        "predicted": explanation.prediction.label,
        "target": str(explanation.target),
        "method": explanation.method,
    }
    for labels in product(*(labels for _, labels in explanation.rows)):
        scores = explanation.row(*labels).scores
        for number, location in enumerate(_locations(explanation)):
            yield about | dict(zip(kinds, labels, strict=True)) | location | {"score": float(scores[number])}


def _locations(explanation: Explanation) -> Iterator[dict[str, Any]]:
    """For each unit its number, kind, segment, characters and text; a special token is in no segment."""
    units, segments = explanation.units, explanation.example.segments
    for number in range(len(units)):
        if isinstance(units, Spans):
            segment, start, end = units.characters(number)
        else:
            segment, start, end = units.segment[number], units.start[number], units.end[number]
        special = segment == SPECIAL
        text = units.labels[number] if special else segments[segment][start:end]  # type: ignore[union-attr]
        yield {
            "unit": number,
            "kind": units.kind,
            "segment": segment,
            "start": start,
            "end": end,
            "special": special,
            "text": text,
        }
