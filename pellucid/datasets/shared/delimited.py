"""Records of files with commas or tabs. A record may have several lines; its number is that of its first line."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.wording import listed, quoted
from pellucid.core.text.example import is_utf8
from pellucid.datasets.shared.encoding import UTF_8
from pellucid.datasets.shared.part_files import filled_lines, lines

Record = list[str] | ValueError
LONGEST = 2**31 - 1


def comma_records(path: Path, delimiter: str = ",", encoding: str = UTF_8) -> Iterator[tuple[int, Record]]:
    """(first line, fields) of each record with quoted fields; a `ValueError` in place of fields where quotes do not match."""
    # Strict: a quote in the wrong place is an error. By default the reader would change the text silently.
    reader = csv.reader(lines(path, encoding, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            with _long_fields():
                fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield line, ValueError(f"its quotes do not match ({error})")
        else:
            if fields:
                yield line, fields


@contextmanager
def _long_fields() -> Iterator[None]:
    """The limit on a field's length holds for the whole process and is too short for books: lift it for one record."""
    before = csv.field_size_limit(LONGEST)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def tab_records(path: Path, delimiter: str = "\t", encoding: str = UTF_8) -> Iterator[tuple[int, list[str]]]:
    """(line, fields) of each line that is not blank, split at tabs; quotes are part of the text."""
    for number, line in filled_lines(path, encoding):
        yield number, line.split(delimiter)


def with_header(path: Path, records: Iterator[tuple[int, Record]]) -> tuple[list[str], Iterator]:
    """The column names (the first record), and the records after it; raises `BadFile` where there is no header."""
    first = next(records, None)
    if first is None or isinstance(first[1], ValueError):
        raise BadFile(f"{path} has no header; its first line must name the columns.")
    names = first[1]
    if not all(map(is_utf8, names)):
        raise BadFile(f"The names of the columns of {path} are not UTF-8 text; convert the file first.")
    check_named_once(path, names)
    return names, records


def check_named_once(path: Path, names: list[str]) -> None:
    """Raise `BadFile` where two columns have one name, since only one of them could be read."""
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise BadFile(
            f"{path} has several columns called {listed(map(quoted, twice))}; give each column a name of its own."
        )


def named(names: list[str], fields: list[str]) -> dict[str, str]:
    """Column name -> field; raises `ValueError` when there are not as many fields as columns."""
    if len(fields) != len(names):
        raise ValueError(f"it has {len(fields)} fields, the header {len(names)}")
    return dict(zip(names, fields, strict=True))


def needs(path: Path, names: list[str], wanted: tuple[str, ...]) -> None:
    """Raise `BadFile` when a file lacks a column that its format has."""
    missing = [name for name in wanted if name not in names]
    if missing:
        raise BadFile(f"{path} has no column {', '.join(missing)}; its columns are: {', '.join(names)}.")
