"""Checks of what callers pass in; each raises an error with one clear sentence."""

import difflib
from collections.abc import Collection, Iterable, Mapping
from math import inf
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, TypeAlias, TypeGuard, TypeVar, get_args, overload

from pellucid.base.errors import BadInput, BadSetting, UnknownName
from pellucid.base.wording import in_syntax, listed, quoted

Member = TypeVar("Member")
Plain = TypeVar("Plain")
Value = TypeVar("Value")
Choice: TypeAlias = str | tuple[str, Mapping[str, object]]  # a name, or a name with some of its settings

FEW_NAMES = 12  # as many fit into a message that can be read at a glance

PLAIN = (str, bool, Integral, Real, NoneType, list, tuple, Mapping)  # what a setting may be


def at_least(setting: str, value: float, lowest: float) -> None:
    """Raise `BadSetting` when a setting is no finite number, or is below its lowest possible value."""
    if isinstance(value, bool) or not isinstance(value, Real) or value != value:
        raise BadSetting(f"{setting}={quoted(value)} is not a number; give {lowest} or more.")
    if value == inf:
        raise BadSetting(f"{setting}={value} is no finite number; give {lowest} or more.")
    if value < lowest:
        raise BadSetting(f"{setting}={value} is too small; give {lowest} or more.")


def between(setting: str, value: float, lowest: float, highest: float) -> None:
    """Raise `BadSetting` when a setting is no number, or is outside its range (both ends are allowed)."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise BadSetting(f"{setting}={quoted(value)} is not a number; give one from {lowest} to {highest}.")
    if not lowest <= value <= highest:
        raise BadSetting(f"{setting}={value} is out of range; give a number from {lowest} to {highest}.")


def one_of(setting: str, value: str, allowed: Collection[str]) -> None:
    """Raise `BadSetting` when a word is not among the allowed ones."""
    if not isinstance(value, str) or value not in allowed:
        raise BadSetting(
            f"{setting}={quoted(value)} is not possible; give one of {', '.join(sorted(allowed))}."
        )


def known(kind: str, name: str, names: Collection[str], command: str = "") -> None:
    """Raise `UnknownName`, with the nearest known names, when nothing has that name.

    All names are listed where they are few, or where none is near. command: what lists them all, such as "methods"; "" for nothing.
    """
    is_name = isinstance(name, str)
    if is_name and name in names:
        return
    near = difflib.get_close_matches(name, list(names), n=3) if is_name else []
    first = f"No {kind} is called {quoted(name)}."
    hint = f" Did you mean {quoted(near[0])}?" if near else ""
    if near and len(names) > FEW_NAMES:
        also = f" Near to it too: {listed(map(quoted, near[1:]))}." if near[1:] else ""
        lists = f"; {in_syntax(f'pellucid.{command}()', f'pellucid {command}')} lists them" if command else ""
        raise UnknownName(f"{first}{hint}{also} There are {len(names) - len(near)} more{lists}.")
    every = f"There are: {listed(sorted(names))}." if names else "There are none."
    raise UnknownName(f"{first}{hint} {every}")


def whole(setting: str, value: object, lowest: int, highest: int) -> int:
    """The value as an int; raises `BadSetting` when it is no whole number, or outside its range."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise BadSetting(
            f"{setting}={quoted(value)} is no whole number; give one from {lowest:,} to {highest:,}."
        )
    if not lowest <= int(value) <= highest:
        raise BadSetting(
            f"{setting}={value} is out of range; give a whole number from {lowest:,} to {highest:,}."
        )
    return int(value)


def of_class(name: str, value: object, kinds: type | UnionType, way: str) -> None:
    """Raise `BadInput` when a value is not of these classes; way: what to give instead."""
    if not isinstance(value, kinds):
        raise BadInput(f"{name} came as {kind_in_words(value)}; {way}.")


@overload
def every(name: str, values: object, kinds: type[Member], way: str) -> list[Member]: ...
@overload
def every(name: str, values: object, kinds: UnionType, way: str) -> list[Any]: ...
def every(name: str, values: object, kinds: type | UnionType, way: str) -> list[Any]:
    """The members of a list or another iterable; raises `BadInput` when one is not of these classes."""
    if isinstance(values, kinds):
        raise BadInput(f"{name} came as one {type(values).__name__}; give a list of them: [...].")
    members = None if isinstance(values, str | bytes) else listed_members(values)
    if members is None:
        raise BadInput(f"{name} came as {kind_in_words(values)}; {way}.")
    for number, member in enumerate(members):
        of_class(f"Member {number} of {name}", member, kinds, way)
    return members


def listed_members(values: object) -> list[object] | None:
    """The members of an iterable; None where there is nothing to iterate over."""
    try:
        return list(values) if isinstance(values, Iterable) else None
    except Exception:  # raised by a class that is not ours
        return None


def mapping(setting: str, value: Mapping[str, Value]) -> dict[str, Value]:
    """The value as a dictionary; raises `BadSetting` when it is no mapping of names."""
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise BadSetting(
            f"{setting}={quoted(value)} is not possible; give names with values: {{'name': value}}."
        )
    return dict(value)


def choices(setting: str, value: object) -> list[Choice]:
    """Names, and (name, settings) pairs, as a list; raises `BadSetting` for anything else."""
    if isinstance(value, str):
        raise BadSetting(f"{setting} is a list of names; write [{quoted(value)}], not {quoted(value)}.")
    members = None if isinstance(value, bytes | Mapping) else listed_members(value)
    named = [member for member in members or () if _is_choice(member)]
    if members is None or len(named) < len(members):
        raise BadSetting(
            f"{setting}={quoted(value)} is not possible; give a list of names, or of names with their settings: "
            "('name', {'setting': value})."
        )
    return named


def _is_choice(value: object) -> TypeGuard[Choice]:
    """Whether this is a name, or a name with its settings; a list of the two counts as a pair."""
    if not isinstance(value, tuple | list):
        return isinstance(value, str)
    return len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], Mapping)


def kind_in_words(value: object) -> str:
    """What a value is, by the name of its class."""
    if value is None:
        return "None"
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


@overload
def of_kind(setting: str, value: object, annotation: type[Plain]) -> Plain: ...
@overload
def of_kind(setting: str, value: object, annotation: object) -> object: ...
def of_kind(setting: str, value: object, annotation: object) -> Any:  # of the annotated type
    """The value as plain int, float, bool, str or None; raises `BadSetting` when it is not of the annotated type.

    Under other annotations than these types and unions of them, the value is returned as it is.
    """
    kinds = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    if not set(kinds) <= {int, float, bool, str, NoneType}:
        if not isinstance(value, PLAIN):
            raise BadSetting(
                f"{setting}={quoted(value)} is not possible; give a word, a number or a list of them."
            )
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
        NoneType: in_syntax("None", "null"),
    }
    raise BadSetting(
        f"{setting}={quoted(value)} is not possible; give {' or '.join(words[kind] for kind in kinds)}."
    )
