"""Single values of rows and columns: labels as strings, missing values, and what a value is in words."""

from collections.abc import Mapping
from math import isnan
from numbers import Integral, Real
from typing import Any

from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.wording import clipped, quoted


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
