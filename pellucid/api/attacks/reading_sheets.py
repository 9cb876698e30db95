"""The door `read_blind_sheets`: what people judged on the sheets of an attack."""

import json
from collections.abc import Sequence
from pathlib import Path

from pellucid.core.corpus.blind_sheet import (
    COLUMNS,
    LEAST_MEANING,
    MOST_MEANING,
    Judgement,
    KeyRow,
    SheetScores,
    sheet_scores,
)
from pellucid.core.foundation.errors import BadFile, BadInput
from pellucid.core.foundation.files import possible_path, read_text
from pellucid.core.foundation.wording import listed, quoted, shortened
from pellucid.datasets.shared.delimited import comma_records, with_header
from pellucid.datasets.shared.delimiter import delimiter_of, without_declaration
from pellucid.datasets.shared.encoding import encoding_of
from pellucid.exports.blind_sheet import FORM


def read_blind_sheets(sheets: str | Path | Sequence[str | Path], key: str | Path) -> list[SheetScores]:
    """What people judged on sheets that `write_blind_sheet` wrote: does a fooled text still say the same, to a reader?

    sheets: a .csv file, or one of each person who judged, as a spreadsheet saves it. Rows or cells that were left blank are not counted. key: the .json file that was written
        with the sheet.

    Returns scores of each attack, by name. Raises `BadFile`, with the line, for a row that is not in the key, a judgement twice, or a meaning that is
    not 1 to 5, `BadInput` without a sheet.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> attempts = pellucid.attack(model, [("A good film.", "positive")], "deepwordbug")
    >>> pellucid.write_blind_sheet(attempts, "sheet.csv", "key.json")
    >>> scores = pellucid.read_blind_sheets("sheet.csv", "key.json")
    >>> scores[0].attack, scores[0].n_texts, scores[0].n_judged
    ('deepwordbug', 1, 0)
    """
    paths = [sheets] if isinstance(sheets, str | Path) else sheets
    if not isinstance(paths, list | tuple) or not paths:
        raise BadInput(
            f"sheets is {quoted(type(sheets).__name__)}; give a .csv file, or a list of one or more."
        )
    hidden = _key(possible_path(key))
    edited = {one.row: one.edited for one in hidden}
    return sheet_scores(hidden, [_judgements(possible_path(path), edited) for path in paths])


def _key(path: Path) -> list[KeyRow]:
    try:
        record = json.loads(read_text(path))
        if record["form"] != FORM:
            raise KeyError("form")
        rows = [KeyRow(**row) for row in record["rows"]]
        if not all(row.edited in ("a", "b") for row in rows):
            raise KeyError("edited")
        return rows
    except (ValueError, KeyError, TypeError):
        raise BadFile(
            f"{path} is not the key of a blind sheet; give the .json file that was written with it."
        ) from None


def _judgements(path: Path, edited: dict[int, str]) -> dict[int, Judgement]:
    codec = encoding_of(path)  # spreadsheets save in their own, and with other signs between cells
    cells_of = comma_records(path, delimiter_of(path, codec), codec)
    names, records = with_header(path, without_declaration(cells_of))
    if lacking := [one for one in COLUMNS if one not in names]:
        raise BadFile(
            f"{path} has no column {listed(lacking)}; give a sheet of `write_blind_sheet`, filled in."
        )
    judged: dict[int, Judgement] = {}
    for line, fields in records:
        if isinstance(fields, ValueError):
            raise BadFile(f"{path}, line {line}: {fields}.")
        cells = dict(zip(names, (one.strip() for one in fields), strict=False))
        row = _row(path, line, cells.get("row", ""), edited)
        if row in judged:
            raise BadFile(f"{path}, line {line}: row {row} is there twice; leave one.")
        labels = {side: cells.get(f"label_{side}", "").casefold() for side in "ab"}
        after = labels.pop(edited[row])
        (before,) = labels.values()
        judged[row] = Judgement(before, after, _meaning(path, line, cells.get("same_meaning", "")))
    return judged


def _row(path: Path, line: int, cell: str, edited: dict[int, str]) -> int:
    if not cell.isdecimal() or int(cell) not in edited:
        raise BadFile(
            f"{path}, line {line}: row {quoted(shortened(cell))} is not in the key; give the key of this sheet."
        )
    return int(cell)


def _meaning(path: Path, line: int, cell: str) -> int | None:
    if not cell:
        return None
    if not cell.isdecimal() or not LEAST_MEANING <= int(cell) <= MOST_MEANING:
        raise BadFile(
            f"{path}, line {line}: same_meaning is {quoted(shortened(cell))}; give a whole number from {LEAST_MEANING} to {MOST_MEANING}, or nothing."
        )
    return int(cell)
