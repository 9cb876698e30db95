"""From the rows of a table, of text or of a spreadsheet, to examples: columns, labels, ids, and the rest as meta."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from pellucid.base.errors import BadFile, BadSetting
from pellucid.data.shared.columns import SAMPLE, Columns, columns_of
from pellucid.data.shared.delimited import Record, named
from pellucid.data.shared.part_files import row_id
from pellucid.data.shared.rows import ReadRow, read_rows
from pellucid.text.example import Example

DECIMAL = re.compile(r"(-?\d+)(?:,(\d+))?")  # with a comma, as many countries write it


@dataclass(frozen=True)
class TableRows:
    """A table's column names and its records, with the columns that are read.

    id: the column of the examples' ids; None: "id" where there is one, else file and line. decimal_commas: whether the
    labels are numbers with a comma before their decimals, which becomes a point ("4,0" is 4).
    """

    path: Path
    names: list[str]
    records: Iterator[tuple[int, Record]]
    columns: Columns
    id: str | None = None
    decimal_commas: bool = False

    def examples(self) -> Iterator[ReadRow]:
        """An example or a bad row for each record."""
        yield from read_rows(self.path, self.records, self._example)

    def _example(self, fields: Any, line: int) -> list[Example]:
        row = named(self.names, fields)
        texts, label = self.columns.texts, self.columns.label
        id = self.id or ("id" if "id" in row else None)
        used = {*texts, label, id}
        return [
            Example(
                tuple(row[name] for name in texts),
                (self._label(row[label].strip()) or None) if label else None,
                (),
                row[id] if id and row[id].strip() else row_id(self.path, line),
                {name: value for name, value in row.items() if name not in used},
            )
        ]

    def _label(self, value: str) -> str:
        match = DECIMAL.fullmatch(value) if self.decimal_commas else None
        if match is None:
            return value
        decimals = (match[2] or "").rstrip("0")
        return f"{match[1]}.{decimals}" if decimals else match[1]


def table_rows(
    path: Path,
    names: list[str],
    records: Iterator[tuple[int, Record]],
    *,
    wanted: tuple[str | None, str | None, str | None, str | None],
    comma_free: bool = False,
) -> TableRows:
    """The rows of a table whose columns are chosen by the user's word, their names or their content.

    wanted: the columns that the user names: text, second, label, id. comma_free: whether the fields are separated by another
    sign than commas, so that numbers can have decimal commas.

    Raises `BadFile` where the texts could be in several columns or in none.
    """
    first = list(islice(records, SAMPLE))
    sample = [row for _, fields in first if (row := _row(fields, names))]
    text, second, label, id = wanted
    try:
        columns = columns_of(names, sample, text, second, label)
    except BadSetting:
        raise
    except ValueError as error:
        raise BadFile(f"{path}: {error}; its columns are: {', '.join(names)}.") from None
    decimal = comma_free and _has_decimal_commas(
        [row[columns.label] for row in sample] if columns.label else []
    )
    return TableRows(path, names, chain(first, records), columns, id, decimal)


def _row(fields: Record, names: Sequence[str]) -> dict[str, str]:
    """Column -> field; empty where the fields do not fit the columns."""
    fits = isinstance(fields, list) and len(fields) == len(names)
    return dict(zip(names, fields, strict=True)) if fits else {}  # type: ignore[arg-type]


def _has_decimal_commas(labels: Sequence[str]) -> bool:
    """Whether all labels are numbers, and some have a comma before their decimals."""
    matches = [DECIMAL.fullmatch(label.strip()) for label in labels if label.strip()]
    return bool(matches) and all(matches) and any(match and match[2] for match in matches)
