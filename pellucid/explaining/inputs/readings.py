"""How a door reads what it gets, and the notice of what it decided."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from pellucid.base.errors import BadInput, BadSetting
from pellucid.base.notices import InputReading, notify
from pellucid.base.wording import clipped, quoted
from pellucid.run.model import Model
from pellucid.text.example import Example


@dataclass(frozen=True)
class ReadingRequest:
    """How data shall be read.

    text: the column of the texts, or two for pairs; None: the one that is plainly meant. label: that of the labels. labels:
    the names that a label may have; empty: not known. names_data: whether a string is a data set or file rather than a
    text. split: the part of data that has parts.
    """

    text: str | Sequence[str] | None = None
    label: str | None = None
    labels: tuple[str, ...] = ()
    names_data: bool = False
    split: str = "test"

    def __post_init__(self) -> None:
        if self.text is not None and not 1 <= len(self.text_names) <= 2:
            raise BadSetting(f"text={quoted(self.text)} is no column; give its name, or two names for pairs.")
        if self.label is not None and not isinstance(self.label, str | int):
            raise BadSetting(f"label={quoted(self.label)} is no column; give the name of one.")

    @property
    def text_names(self) -> tuple[str, ...]:
        """The columns of the texts that the caller named: none, one, or two for pairs."""
        if self.text is None:
            return ()
        if isinstance(self.text, str | int):
            return (str(self.text),)
        names = self.text if isinstance(self.text, list | tuple) else ()
        return tuple(names) if all(isinstance(name, str) for name in names) else ()

    @property
    def names_columns(self) -> bool:
        """Whether the caller named a column."""
        return self.text is not None or self.label is not None

    def without_columns(self, data: Any) -> None:
        """Raise `BadSetting` where columns are named of what has none."""
        if self.names_columns:
            raise BadSetting(
                f"text= and label= name columns of a table; {type(data).__name__} has none. Leave them away, or give a "
                "data frame, a dictionary of lists or a file."
            )


def notify_reading(sentence: str) -> None:
    """Say how something was read."""
    notify(sentence, InputReading)


# Single values of rows and columns: labels as strings, missing values, and what a value is in words.


def plain(value: Any) -> Any:
    """A number of numpy, arrow or torch as Python's own."""
    if isinstance(value, str | bytes | list | tuple | Mapping) or getattr(value, "ndim", None):
        return str(value) if isinstance(value, str) else value
    for name in ("item", "as_py"):
        if callable(method := getattr(value, name, None)):
            return method()
    return value


def is_missing(value: Any) -> bool:
    """Whether a value stands for none: None, not-a-number, or pandas' own signs of it."""
    return (
        value is None
        or (isinstance(value, float) and isnan(value))
        or type(value).__name__ in ("NAType", "NaTType")
    )


def label_text(value: Any, row: int) -> str | None:
    """A label as a string; None for a missing one. Raises `BadInput`, with the row, for what is no label."""
    value = plain(value)
    if is_missing(value) or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, list | tuple) and all(isinstance(name, str) for name in value):
        return ", ".join(value) or None
    if isinstance(value, str | bool):
        return str(value).strip()
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        number = float(value)
        return str(int(number)) if number.is_integer() else str(number)
    raise BadInput(f"The label of row {row} is {in_words(value)}; give a word or a number.")


def in_words(value: Any) -> str:
    """What a value is: "missing (nan)", "the number 5", "a list of 3 members"."""
    value = plain(value)
    if is_missing(value):
        return f"missing ({clipped(repr(value))})"
    if isinstance(value, bytes):
        return "bytes, which have to be decoded"
    if isinstance(value, bool) or not isinstance(value, Real):
        size = f" of {len(value)} members" if isinstance(value, list | tuple) else ""
        return f"{type(value).__name__}{size}"
    return f"the number {quoted(value)}"


# The types of what doors accept, for signatures: data of any kind, and what stands for a model.


# A string, a pair, examples, rows, columns, a table or data set of another library, or where one is read from.
Data = str | Path | Example | Iterable[Any] | Mapping[str, Any] | Any
# A model of ours, a folder or hub name, or a fitted pipeline.
ModelSource = Model | str | Path | Any
