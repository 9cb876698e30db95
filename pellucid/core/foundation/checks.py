"""Checks of what callers pass in; each raises an error with one clear sentence."""

import difflib
from collections.abc import Collection
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, get_args

from pellucid.core.foundation.errors import BadSetting, UnknownName
from pellucid.core.foundation.wording import listed, quoted


def at_least(setting: str, value: float, lowest: float) -> None:
    """Raise `BadSetting` when a setting is no number, or is below its lowest possible value."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise BadSetting(f"{setting}={quoted(value)} is not a number; give {lowest} or more.")
    if not value >= lowest:  # also catches nan
        raise BadSetting(f"{setting}={value} is too small; give {lowest} or more.")


def between(setting: str, value: float, lowest: float, highest: float) -> None:
    """Raise `BadSetting` when a setting is no number, or is outside its range (both ends are allowed)."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise BadSetting(f"{setting}={quoted(value)} is not a number; give one from {lowest} to {highest}.")
    if not lowest <= value <= highest:
        raise BadSetting(f"{setting}={value} is out of range; give a number from {lowest} to {highest}.")


def one_of(setting: str, value: str, allowed: Collection[str]) -> None:
    """Raise `BadSetting` when a word is not among the allowed ones."""
    if value not in allowed:
        raise BadSetting(
            f"{setting}={quoted(value)} is not possible; give one of {', '.join(sorted(allowed))}."
        )


def known(kind: str, name: str, names: Collection[str]) -> None:
    """Raise `UnknownName`, with the nearest known name, when nothing has that name."""
    if name in names:
        return
    near = difflib.get_close_matches(name, list(names), n=1) if isinstance(name, str) else []
    hint = f" Did you mean {quoted(near[0])}?" if near else ""
    raise UnknownName(f"No {kind} is called {quoted(name)}.{hint} There are: {listed(sorted(names))}.")


def of_kind(setting: str, value: object, annotation: object) -> Any:
    """The value as plain int, float, bool, str or None; raises `BadSetting` when it is not of the annotated type.

    Under other annotations than these types and unions of them, the value is returned as it is.
    """
    kinds = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    if not set(kinds) <= {int, float, bool, str, NoneType}:
        return value
    if isinstance(value, bool | str | NoneType):
        if type(value) in kinds:
            return value
    elif isinstance(value, Integral) and {int, float} & set(kinds):
        return int(value)
    elif isinstance(value, Real) and float in kinds:
        return float(value)
    words = {
        int: "a whole number",
        float: "a number",
        bool: "true or false",
        str: "a word",
        NoneType: "nothing",
    }
    raise BadSetting(
        f"{setting}={quoted(value)} is not possible; give {' or '.join(words[kind] for kind in kinds)}."
    )
