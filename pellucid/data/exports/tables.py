"""Results as tables: data frames and CSV files."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from io import StringIO
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import category, normalize

from pellucid.base.checks import quoted
from pellucid.base.errors import BadFile, BadInput
from pellucid.base.files import possible_path, whole_file
from pellucid.base.packages import optional_package
from pellucid.results.class_words import ClassWords
from pellucid.results.explanation import Explanation
from pellucid.results.results import text_row
from pellucid.results.side_by_side import SideBySide
from pellucid.results.table import Cell, Interval, Table
from pellucid.text.units import SPECIAL, Reading, Spans, Units, united_reading

FORMULA = ("=", "+", "-", "@")  # a spreadsheet would compute a cell that begins so
INVISIBLE = "CZ"  # Unicode's kinds of control signs and blanks, which spreadsheets may drop from a cell's start
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?(e[+-]?\d+)?")
Exportable = Explanation | Sequence[Explanation] | SideBySide | Table | ClassWords


def uncomputed(text: str) -> str:
    """A text that no spreadsheet computes: one that begins as a formula does, and is no number, gets an apostrophe in
    front.

    Wide and small forms of the signs count, as do blanks and signs that are not seen before them; tabs and ends of
    lines alone.
    """
    begins = next((sign for sign in text if category(sign)[0] not in INVISIBLE), "")
    is_formula = normalize("NFKC", begins).startswith(FORMULA) or text.startswith(("\t", "\r", "\n"))
    return f"'{text}" if is_formula and not NUMBER.fullmatch(text) else text


def explanations_of(results: Explanation | Sequence[Explanation] | SideBySide) -> list[Explanation]:
    """One explanation, several, or those of several methods, as one list; raises `BadInput` for anything else."""
    if isinstance(results, Explanation):
        return [results]
    explanations = results.explanations if isinstance(results, SideBySide) else results
    if not isinstance(explanations, Sequence) or not all(
        isinstance(explanation, Explanation) for explanation in explanations
    ):
        raise BadInput(
            f"{type(results).__name__} has no rows; give explanations, several methods side by side, a comparison or "
            "the words of classes."
        )
    return list(explanations)


def cell_rows(table: Table) -> list[dict[str, object]]:
    """One row a cell: a method under a metric, with its interval, and its distance from chance where there is one.

    The agreement of people among themselves comes last.
    """
    return [_cell_row(cell) for cell in (*table.cells, *table.ceiling)]


def _cell_row(cell: Cell) -> dict[str, object]:
    return {
        "method": cell.method,
        "metric": cell.metric,
        "better": cell.better,
        **_bounds("", cell.value),
        "n": cell.n,
        **_bounds("over_chance_", cell.over_chance),
        "p": cell.p,
        "verdict": cell.verdict,
        "spread": cell.spread,
    }


def _bounds(prefix: str, interval: Interval | None) -> dict[str, float | None]:
    ends = ("mean", "low", "high")
    return {prefix + end: None if interval is None else getattr(interval, end) for end in ends}


# Results as a pandas table: one row a unit, a cell of a comparison, or a word of a class.

if TYPE_CHECKING:
    import pandas


def to_data_frame(results: Exportable) -> "pandas.DataFrame":
    """Results as a pandas table. `Results.data_frame()` has one row a text instead.

    results: explanations, also of several methods side by side: one row a unit, with its example, its place in the
        text, its text and its raw score; where scores have rows (layers, heads, draws), each kind of row is a column,
        and a unit has one table row for each. From `compare`: one row a cell. From `class_words`: one row a word.

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
    return pandas.DataFrame([row for explanation in explanations_of(results) for row in _frame_rows(explanation)])


def _frame_rows(explanation: Explanation) -> Iterator[dict[str, object]]:
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
        for unit, location in enumerate(_locations(explanation)):
            yield about | dict(zip(kinds, labels, strict=True)) | location | {"score": float(scores[unit])}


def _locations(explanation: Explanation) -> Iterator[dict[str, object]]:
    """For each unit its number, kind, segment, characters and text; a special token is in no segment."""
    units, segments = explanation.units, explanation.example.segments
    for unit in range(len(units)):
        if isinstance(units, Spans):
            segment, start, end = units.characters(unit)
        else:
            segment, start, end = units.segment[unit], units.start[unit], units.end[unit]
        special = segment == SPECIAL
        text = units.labels[unit] if special else segments[segment][start:end]  # type: ignore[union-attr]
        yield {
            "unit": unit,
            "kind": units.kind,
            "segment": segment,
            "start": start,
            "end": end,
            "special": special,
            "text": text,
            "reading": _reading(units, unit),
        }


def _reading(units: Units | Spans, unit: int) -> Reading:
    """What the model can read of a unit; of a span, of its parts together."""
    if isinstance(units, Spans):
        return united_reading(units.parts, range(units.first[unit], units.last[unit] + 1))
    return united_reading(units, [unit])


# Results as a CSV file for spreadsheets: one row a text, a cell of a comparison, or a word of a class.

STRONGEST = 5  # words for the explained class, and words against it
LEFT_OUT = ("unread", "words", "scores")  # lists, which no cell of a spreadsheet can hold


def write_csv(results: Exportable, path: str | Path) -> None:
    """Write results to a .csv file in UTF-8, whole or not at all.

    A text that begins as a formula does gets an apostrophe in front, so that no spreadsheet computes it.

    results: from `explain` or `explain_all`, one row a text and method: the columns of `Results.data_frame()`, with
        words and their scores as one text, "lovely +3.65, film +0.39": first the strongest for the explained class and
        against it, then those that the model cannot read, last all words in reading order. From `compare`, one row a
        cell; from `class_words`, one row a word.
    path: the file to write; a file that exists is replaced.

    Raises `BadFile` for a name that does not end in .csv, `BadInput` for anything else than such results.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> pellucid.write_csv(pellucid.explain(model, ["A good film.", "Dull."]), "results.csv")
    >>> print(open("results.csv", encoding="utf-8-sig").readline())
    id,text,label,predicted,correct,probability,method,target,value,words_for,words_against,words_unread,words_and_scores
    """
    path = possible_path(path)
    if path.suffix != ".csv":
        raise BadFile(f"{quoted(str(path))} does not end in .csv; give such a name.")
    rows = _csv_rows(results)
    text = StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [])
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    with whole_file(path) as file:
        file.write(text.getvalue().encode("utf-8-sig"))  # the mark at the start tells spreadsheets the encoding


def _csv_rows(results: Exportable) -> list[dict[str, object]]:
    if isinstance(results, Table):
        return cell_rows(results)
    if isinstance(results, ClassWords):
        return [asdict(word) for word in results.words]
    return [_text_row(explanation) for explanation in explanations_of(results)]


def _text_row(explanation: Explanation) -> dict[str, object]:
    """A row without lists: words with their scores as texts."""
    row = text_row(explanation)
    pairs = list(zip(row["words"] or [], row["scores"] or [], strict=True))
    rounding = explanation.resolution
    strongest = sorted(pairs, key=lambda pair: -pair[1])
    return {name: value for name, value in row.items() if name not in LEFT_OUT} | {
        "words_for": _in_one_cell([pair for pair in strongest if pair[1] > rounding][:STRONGEST]),
        "words_against": _in_one_cell([pair for pair in strongest[::-1] if pair[1] < -rounding][:STRONGEST]),
        "words_unread": ", ".join(row["unread"]),
        "words_and_scores": _in_one_cell(pairs),
    }


def _in_one_cell(pairs: Iterable[tuple[str, float]]) -> str:
    """Words with their scores, in three digits: "lovely +3.65, film +0.39"."""
    return ", ".join(f"{word} {score:+.3g}" for word, score in pairs)


def _cell(value: object) -> object:
    """What a cell holds: nothing where there is no number, and a text that no spreadsheet computes."""
    if value is None or value != value:
        return ""
    return uncomputed(value) if isinstance(value, str) else value
