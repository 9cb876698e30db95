"""How a door reads what it gets, and the notice of what it decided."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.notices import InputReading, notify
from pellucid.core.foundation.wording import quoted


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
