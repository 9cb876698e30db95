"""Spreadsheets of Excel (.xlsx) whose first row names the columns."""

from collections.abc import Iterable, Iterator
from datetime import date, datetime, time
from pathlib import Path
from types import ModuleType
from typing import Protocol
from zipfile import BadZipFile, ZipFile

from pellucid.base.checks import known
from pellucid.base.errors import BadFile
from pellucid.base.files import disk_errors
from pellucid.base.kinds import formats
from pellucid.base.packages import optional_package
from pellucid.base.wording import reason
from pellucid.data.shared.columns import say_how_read
from pellucid.data.shared.delimited import Record, with_header
from pellucid.data.shared.part_files import PARTS, part_file
from pellucid.data.shared.rows import ReadRow
from pellucid.data.shared.table_rows import table_rows

FILES = {part: (f"{part}.xlsx",) for part in PARTS}
LARGEST = 2 << 30  # bytes of the unpacked file: a small archive can unpack to more than any memory


@formats.add(reads="one .xlsx file, or one a part", data="any", package="openpyxl")
def excel(
    path: Path,
    split: str,
    *,
    sheet: str | None = None,
    text: str | None = None,
    second: str | None = None,
    label: str | None = None,
    id: str | None = None,
) -> Iterator[ReadRow]:
    """A sheet of an Excel file with a header; other columns become each example's meta.

    sheet: the sheet's name; by default the first. text, second, label, id: the columns; by default those with usual names,
    else by their content, with a warning that says so. Formulas are read as the values that Excel saved, and never computed.
    """
    file = part_file(path, split, FILES)
    names, records = with_header(file, _records(file, sheet))
    rows = table_rows(file, names, records, wanted=(text, second, label, id))
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
        for number, row in enumerate((book[sheet] if sheet else book.worksheets[0]).values, start=1):
            fields = list(map(_as_text, row))
            width = width or len(_without_end(fields))
            if any(fields):
                fields = [*fields, *[""] * (width - len(fields))]
                yield number, fields if any(fields[width:]) else fields[:width]
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
