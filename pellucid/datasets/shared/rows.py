"""What reading gives, row by row: an example, or a bad row with its file, line and reason."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

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


Row = Example | BadRow


class SkippedRows(UserWarning):
    """Bad rows were left out, as asked: how many, and where the first ones stand."""


def read_rows(
    path: Path,
    records: Iterable[tuple[int, Record]],
    make: Callable[[Record, int], list[Example]],
) -> Iterator[Row]:
    """What `make` makes of each numbered record, or a bad row where it raises.

    make: one example, several (the phrases of a tree), or none (a pair without agreement on its label).
    """
    for line, record in records:
        try:
            if isinstance(record, ValueError):  # a record that could not even be parted into fields
                raise record
            _check_utf8(record)
            examples = make(record, line)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            yield BadRow(path, line, _reason(error))
        else:
            yield from examples


def _check_utf8(record: object) -> None:
    """Bytes that are not UTF-8 came through as lone surrogates, so that their row is named, not only the file."""
    for text in record if isinstance(record, list) else [record]:
        if isinstance(text, str) and not text.isascii():
            text.encode("utf-8")


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeError):
        return "it is not UTF-8 text; convert the file first"
    if isinstance(error, KeyError):
        return clipped(f"the field {error} is not there")
    return clipped(str(error) or type(error).__name__)


def label_of(value: str, names: dict[str, str]) -> str:
    """The class name of a label as the original writes it; raises `ValueError` for one that is not listed."""
    if value not in names:
        raise ValueError(f"the label {value!r} is none of {', '.join(names)}")
    return names[value]
