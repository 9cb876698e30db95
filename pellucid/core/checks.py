"""Checks of what callers hand in, each with one clear sentence."""

import difflib
from collections.abc import Collection

from pellucid.core.errors import BadSetting, UnknownName


def at_least(setting: str, value: float, lowest: float) -> None:
    """Raise `BadSetting` when a number is below its lowest sensible value."""
    if not value >= lowest:  # also catches nan
        raise BadSetting(f"{setting}={value} is too small; give {lowest} or more.")


def between(setting: str, value: float, lowest: float, highest: float) -> None:
    """Raise `BadSetting` when a number is outside its range (both ends allowed)."""
    if not lowest <= value <= highest:
        raise BadSetting(f"{setting}={value} is out of range; give a number from {lowest} to {highest}.")


def one_of(setting: str, value: str, allowed: Collection[str]) -> None:
    """Raise `BadSetting` when a word is not among the allowed ones."""
    if value not in allowed:
        raise BadSetting(f"{setting}={value!r} is not possible; give one of {', '.join(sorted(allowed))}.")


def known(kind: str, name: str, names: Collection[str]) -> None:
    """Raise `UnknownName`, with the nearest known name, when there is nothing of that name."""
    if name in names:
        return
    near = difflib.get_close_matches(name, list(names), n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise UnknownName(f"No {kind} is called {name!r}.{hint} There are: {', '.join(sorted(names))}.")
