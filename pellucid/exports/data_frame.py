"""Results as a pandas table: one row a unit, a cell of a comparison, or a word of a class."""

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

from pellucid.core.corpus.class_words import ClassWords
from pellucid.core.foundation.packages import optional_package
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.table import Table
from pellucid.core.text.units import SPECIAL, Spans
from pellucid.exports.rows import Exportable, cell_rows, explanations_of

if TYPE_CHECKING:
    import pandas


def to_data_frame(results: Exportable) -> "pandas.DataFrame":
    """Results as a pandas table. `Results.data_frame()` has one row a text instead.

    results: explanations, also of several methods side by side: one row a unit, with its example, its place in the text,
        its text and its raw score; where scores have rows (layers, heads, draws), each kind of row is a column, and a unit
        has one table row for each. From `compare`: one row a cell. From `class_words`: one row a word.

    Returns the table. Raises `MissingPackage` without pandas, `BadInput` for anything else than such results.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> frame = pellucid.to_data_frame(pellucid.explain(model, ["A good film.", "Dull."]))
    >>> frame[["id", "predicted", "text", "score"]].round(2)
      id predicted  text  score
    0  0  positive     A    0.0
    1  0  positive  good    1.5
    2  0  positive  film    0.0
    3  0  positive     .    0.0
    4  1  negative  Dull    0.0
    5  1  negative     .    0.0
    """
    pandas = optional_package("pandas")
    if isinstance(results, ClassWords):
        return results.data_frame()
    if isinstance(results, Table):
        return pandas.DataFrame(cell_rows(results))
    return pandas.DataFrame([row for one in explanations_of(results) for row in _rows(one)])


def _rows(explanation: Explanation) -> Iterator[dict[str, object]]:
    """The table's rows of one explanation, in reading order."""
    kinds = [kind for kind, _ in explanation.rows]
    about = {
        "id": explanation.example.id,
        "label": explanation.example.label,
        "predicted": explanation.answer,
        "correct": explanation.is_correct,
        "probability": explanation.prediction.probability,
        "method": explanation.method,
        "target": str(explanation.target),
        "value": explanation.target.value,
    }
    for labels in product(*(labels for _, labels in explanation.rows)):
        scores = explanation.row(*labels).scores
        for number, location in enumerate(_locations(explanation)):
            yield about | dict(zip(kinds, labels, strict=True)) | location | {"score": float(scores[number])}


def _locations(explanation: Explanation) -> Iterator[dict[str, object]]:
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
