"""Explanations as CSV, a row a word: what a spreadsheet or another program reads."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from pellucid.core.foundation.files import write_text
from pellucid.core.results.explanation import Explanation
from pellucid.exports.rows import FORMULA

HEADER = (
    "text_number id method label predicted probability explained_class segment start end word score".split()
)
FINER = ("piece", "span")  # kinds of units that are counted as words


def write_csv(explanations: Iterable[Explanation], path: str | Path) -> None:
    """Write explanations to a CSV file, whole or not at all: a row a word, with its text's label and prediction.

    Of scores with several rows (layers, draws) the first is written; `to_data_frame` has them all.

    explanations: from `explain` or `read`.
    path: the file; UTF-8 with commas, as Excel opens it. Of a cell that a spreadsheet would compute as a formula, an
        apostrophe is written first.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    for number, one in enumerate(explanations):
        common = (
            number,
            _plain(one.example.id),
            one.method,
            _plain(one.example.label or ""),
            one.prediction.label,
            one.prediction.probability,
            one.target.label,
        )
        words = one.first_row().words() if one.units.kind in FINER else one.first_row()
        for index in words.units.content:
            word = words.scored(index)
            writer.writerow([*common, word.segment, word.start, word.end, _plain(word.text), word.score])
    write_text(Path(path), "\ufeff" + text.getvalue())


def _plain(cell: str) -> str:
    return f"'{cell}" if len(cell) > 1 and cell.startswith(FORMULA) else cell
