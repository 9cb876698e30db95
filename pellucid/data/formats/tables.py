"""Tables: text files with fields, and spreadsheets, a function each."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from itertools import chain, islice
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol
from zipfile import BadZipFile, ZipFile

from pellucid.base.checks import known, reason
from pellucid.base.errors import BadFile, BadSetting
from pellucid.base.files import disk_errors
from pellucid.base.kinds import formats
from pellucid.base.packages import optional_package
from pellucid.data.shared.columns import SAMPLE, Columns, columns_of, say_how_read
from pellucid.data.shared.delimited import (
    IN_WORDS,
    Record,
    checked_encoding,
    comma_records,
    delimiter_of,
    encoding_in_words,
    encoding_of,
    named,
    tab_records,
    usual_delimiter,
    with_header,
    without_declaration,
)
from pellucid.data.shared.part_files import PARTS, part_file, row_id
from pellucid.data.shared.rows import ReadRow, read_rows
from pellucid.text.example import Example

FILES = {part: (f"{part}.csv", f"{part}.tsv") for part in PARTS}


@formats.add(reads="one .csv or .tsv file, or one a part", data="any", rationales=True)
def table(
    path: Path,
    split: str,
    *,
    text: str | None = None,
    second: str | None = None,
    label: str | None = None,
    evidence: str | None = None,
    id: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    quotes: bool = True,
) -> Iterator[ReadRow]:
    """A CSV or TSV file with a header; other columns become each example's meta.

    CSV or TSV whose first line names the columns.

    text, second, label, id: the columns; by default those with usual names, else by their content. evidence: the column
    of the marks in the (first) text, where it has an unusual name. delimiter: what separates the fields; by default the
    comma, semicolon, tab or bar that fits. encoding: such as cp1250; by default UTF-8, UTF-16, or Windows-1252 where
    nothing else can be meant. quotes: whether quotes may surround a field. A warning says what was recognised.
    """
    file = part_file(path, split, FILES)
    codec = encoding_of(file) if encoding is None else checked_encoding(encoding)
    sign = delimiter_of(file, codec) if delimiter is None else delimiter
    records: Iterator = comma_records(file, sign, codec) if quotes else tab_records(file, sign, codec)
    names, records = with_header(file, without_declaration(records))
    rows = table_rows(file, names, records, wanted=(text, second, label, evidence), id=id, comma_free=sign != ",")
    say_how_read(file.name, _form(file, sign, codec, (delimiter, encoding), rows.decimal_commas), rows.columns)
    yield from rows.examples()


def _form(file: Path, sign: str, codec: str, named: tuple[str | None, str | None], decimal_commas: bool) -> str:
    """What is unusual of the file and was not named by the user; empty where nothing is."""
    delimiter, encoding = named
    between = (
        "" if delimiter or sign == usual_delimiter(file) else f"a table with {IN_WORDS.get(sign, sign)} between fields"
    )
    words = "" if encoding else encoding_in_words(codec)
    numbers = "labels with decimal commas" if decimal_commas else ""
    parts = [part for part in (between or ((words or numbers) and "a table"), words, numbers) if part]
    return ", ".join(parts).replace("a table, ", "a table in ", 1) if words else ", ".join(parts)


EXCEL_FILES = {part: (f"{part}.xlsx",) for part in PARTS}
LARGEST = 2 << 30  # bytes of the unpacked file: a small archive can unpack to more than any memory


@formats.add(reads="one .xlsx file, or one a part", data="any", rationales=True, package="openpyxl")
def excel(
    path: Path,
    split: str,
    *,
    sheet: str | None = None,
    text: str | None = None,
    second: str | None = None,
    label: str | None = None,
    evidence: str | None = None,
    id: str | None = None,
) -> Iterator[ReadRow]:
    """A sheet of an Excel file with a header; other columns become each example's meta.

    Spreadsheets of Excel (.xlsx) whose first row names the columns.

    sheet: the sheet's name; by default the first. text, second, label, id: the columns; by default those with usual
    names, else by their content, with a warning that says so. evidence: the column of the marks in the (first) text,
    where it has an unusual name. Formulas are read as the values that Excel saved, and
    never computed.
    """
    file = part_file(path, split, EXCEL_FILES)
    names, records = with_header(file, _records(file, sheet))
    rows = table_rows(file, names, records, wanted=(text, second, label, evidence), id=id)
    say_how_read(file.name, "", rows.columns)
    yield from rows.examples()


class Sheet(Protocol):
    """What is read of openpyxl's sheets."""

    values: Iterable[tuple[object, ...]]


class Book(Protocol):
    """What is read of openpyxl's books."""

    sheetnames: list[str]
    worksheets: list[Sheet]

    def __getitem__(self, name: str) -> Sheet: ...
    def close(self) -> None:
        """Close its file."""


def _records(file: Path, sheet: str | None) -> Iterator[tuple[int, Record]]:
    """(row, fields) of each row that is not empty, without the empty columns at its end."""
    package = optional_package("openpyxl")
    with disk_errors("read", file):
        book = _opened(package, file)
    try:
        if sheet is not None:
            known("sheet", sheet, book.sheetnames)
        width = 0
        for row_number, row in enumerate((book[sheet] if sheet else book.worksheets[0]).values, start=1):
            fields = list(map(_as_text, row))
            width = width or len(_without_end(fields))
            if any(fields):
                fields = [*fields, *[""] * (width - len(fields))]
                yield row_number, fields if any(fields[width:]) else fields[:width]
    finally:
        book.close()


def _opened(package: ModuleType, file: Path) -> Book:
    try:
        with ZipFile(file) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        if size > LARGEST:
            raise BadFile(f"{file} unpacks to {size >> 20} MB, which is more than a sheet of texts needs.")
        return package.load_workbook(file, read_only=True, data_only=True)
    except (BadZipFile, KeyError, ValueError, TypeError, SyntaxError) as error:
        raise BadFile(f"{file} is no Excel file (.xlsx) that can be read: {reason(error)}.") from None


def _as_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return str(value)


def _without_end(fields: list[str]) -> list[str]:
    while fields and not fields[-1]:
        fields = fields[:-1]
    return fields


# From the rows of a table, of text or of a spreadsheet, to examples: columns, labels, ids, and the rest as meta.

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
        used = {*texts, label, id, *(column.name for column in self.columns.marks)}
        segments = tuple(row[name] for name in texts)
        return [
            Example(
                segments,
                (self._label(row[label].strip()) or None) if label else None,
                self.columns.rationales(row, segments),
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
    id: str | None = None,
    comma_free: bool = False,
) -> TableRows:
    """The rows of a table whose columns are chosen by the user's word, their names or their content.

    wanted: the columns that the user names: text, second, label, evidence. id: that of the ids. comma_free: whether the
    fields are separated by another sign than commas, so that numbers can have decimal commas.

    Raises `BadFile` where the texts could be in several columns or in none.
    """
    first = list(islice(records, SAMPLE))
    sample = [row for _, fields in first if (row := _row(fields, names))]
    try:
        columns = columns_of(names, sample, *wanted)
    except BadSetting:
        raise
    except ValueError as error:
        raise BadFile(f"{path}: {error}; its columns are: {', '.join(names)}.") from None
    decimal = comma_free and _has_decimal_commas([row[columns.label] for row in sample] if columns.label else [])
    return TableRows(path, names, chain(first, records), columns, id, decimal)


def _row(fields: Record, names: Sequence[str]) -> dict[str, str]:
    """Column -> field; empty where the fields do not fit the columns."""
    fits = isinstance(fields, list) and len(fields) == len(names)
    return dict(zip(names, fields, strict=True)) if fits else {}  # type: ignore[arg-type]


def _has_decimal_commas(labels: Sequence[str]) -> bool:
    """Whether all labels are numbers, and some have a comma before their decimals."""
    matches = [DECIMAL.fullmatch(label.strip()) for label in labels if label.strip()]
    return bool(matches) and all(matches) and any(match and match[2] for match in matches)
