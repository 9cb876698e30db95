"""Results as a CSV file for spreadsheets: one row a text, a cell of a comparison, or a word of a class."""

import csv
from collections.abc import Iterable
from dataclasses import asdict
from io import StringIO
from pathlib import Path

from pellucid.core.corpus.class_words import ClassWords
from pellucid.core.corpus.text_rows import text_row
from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.files import possible_path, whole_file
from pellucid.core.foundation.wording import quoted
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.table import Table
from pellucid.exports.rows import Exportable, cell_rows, explanations_of, uncomputed

STRONGEST = 5  # words for the explained class, and words against it
LEFT_OUT = ("words", "scores")  # lists, which no cell of a spreadsheet can hold


def write_csv(results: Exportable, path: str | Path) -> None:
    """Write results to a .csv file in UTF-8, whole or not at all.

    A text that begins as a formula does gets an apostrophe in front, so that no spreadsheet computes it.

    results: from `explain` or `explain_all`, one row a text and method: the columns of `Results.data_frame()`, with words
        and their scores as one text, "lovely +3.65, film +0.39": first the strongest for the explained class and against
        it, last all words in reading order. From `compare`, one row a cell; from `class_words`, one row a word.
    path: the file to write; a file that exists is replaced.

    Raises `BadFile` for a name that does not end in .csv, `BadInput` for anything else than such results.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> pellucid.write_csv(pellucid.explain(model, ["A good film.", "Dull."]), "results.csv")
    >>> print(open("results.csv", encoding="utf-8-sig").readline())
    id,text,label,predicted,correct,probability,method,target,value,words_for,words_against,words_and_scores
    """
    path = possible_path(path)
    if path.suffix != ".csv":
        raise BadFile(f"{quoted(str(path))} does not end in .csv; give such a name.")
    rows = _rows(results)
    text = StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [])
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    with whole_file(path) as file:
        file.write(
            text.getvalue().encode("utf-8-sig")
        )  # the mark at the start tells spreadsheets the encoding


def _rows(results: Exportable) -> list[dict[str, object]]:
    if isinstance(results, Table):
        return cell_rows(results)
    if isinstance(results, ClassWords):
        return [asdict(word) for word in results.words]
    return [_text_row(one) for one in explanations_of(results)]


def _text_row(explanation: Explanation) -> dict[str, object]:
    """A row without lists: words with their scores as texts."""
    row = text_row(explanation)
    pairs = list(zip(row["words"] or [], row["scores"] or [], strict=True))
    rounding = explanation.resolution
    strongest = sorted(pairs, key=lambda pair: -pair[1])
    return {name: value for name, value in row.items() if name not in LEFT_OUT} | {
        "words_for": _in_one_cell([pair for pair in strongest if pair[1] > rounding][:STRONGEST]),
        "words_against": _in_one_cell([pair for pair in strongest[::-1] if pair[1] < -rounding][:STRONGEST]),
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
