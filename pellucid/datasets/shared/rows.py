"""Reading row by row: each row becomes an example, or a bad row with its file, line and reason."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from json import JSONDecodeError
from pathlib import Path
from typing import TypeVar

from pellucid.core.foundation.call_syntax import in_syntax
from pellucid.core.foundation.notices import Notice
from pellucid.core.foundation.wording import clipped
from pellucid.core.text.example import Example

Record = TypeVar("Record")


@dataclass(frozen=True)
class BadRow:
    """A row that is no example: where its record begins, and why."""

    path: Path
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}: {self.reason}"


ReadRow = Example | BadRow  # what reading a row gives


class SkippedRows(Notice):
    """Bad rows were skipped: how many, and the first ones with file, line and reason."""


def read_rows(
    path: Path,
    records: Iterable[tuple[int, Record]],
    make: Callable[[Record, int], list[Example]],
) -> Iterator[ReadRow]:
    """The examples that `make` returns for each numbered record, or a bad row where it raises.

    make: takes a record and its line, and returns one example, several (the phrases of a tree), or none (a pair whose
    annotators did not agree on a label).
    """
    for line, record in records:
        try:
            if isinstance(record, ValueError):  # a record that could not be split into fields
                raise record
            _check_utf8(record)
            examples = make(record, line)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            yield BadRow(path, line, _reason(error))
        else:
            yield from examples


def _check_utf8(record: object) -> None:
    """Raise for bytes that are not UTF-8. `lines` lets them through as lone surrogates, so that the error names their row."""
    for text in record if isinstance(record, list) else [record]:
        if isinstance(text, str) and not text.isascii():
            text.encode("utf-8")


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeError):
        return (
            "it is not UTF-8 text; convert the file first, or name a table's encoding, such as "
            + in_syntax("encoding='cp1250'", "--read encoding=cp1250")
        )
    if isinstance(error, JSONDecodeError):
        return f"it is no JSON: {error.msg} at character {error.colno}"
    if isinstance(error, KeyError):
        return clipped(f"the field {error} is not there")
    return clipped(str(error) or type(error).__name__)


def label_of(value: str, names: dict[str, str]) -> str:
    """The class name of a label as the file writes it; raises `ValueError` for a label that is not among the names."""
    if value not in names:
        raise ValueError(f"the label {value!r} is none of {', '.join(names)}")
    return names[value]
