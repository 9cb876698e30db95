"""Checks of what callers pass in, each of which raises an error with one clear sentence; and how such sentences name
things.
"""

import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import accumulate
from math import inf
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, TypeAlias, TypeGuard, TypeVar, get_args, overload

from pellucid.base.errors import BadInput, BadSetting, UnknownName

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
        raise BadSetting(f"{setting}={quoted(value)} is not possible; give one of {', '.join(sorted(allowed))}.")


def known(kind: str, name: str, names: Collection[str], command: str = "") -> None:
    """Raise `UnknownName`, with the nearest known names, when nothing has that name.

    All names are listed where they are few, or where none is near. command: what lists them all, such as "methods"; ""
    for nothing.
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
        raise BadSetting(f"{setting}={quoted(value)} is no whole number; give one from {lowest:,} to {highest:,}.")
    if not lowest <= int(value) <= highest:
        raise BadSetting(f"{setting}={value} is out of range; give a whole number from {lowest:,} to {highest:,}.")
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
    for index, member in enumerate(members):
        of_class(f"Member {index} of {name}", member, kinds, way)
    return members


def each(name: str, values: Iterable[Member], kinds: type[Member], way: str) -> Iterator[Member]:
    """The members one after the other, as they are read; raises as `every` does."""
    if isinstance(values, list | tuple | str | kinds) or not isinstance(values, Sequence):
        yield from every(name, values, kinds, way)
        return
    for index, member in enumerate(values):
        of_class(f"Member {index} of {name}", member, kinds, way)
        yield member


def listed_members(values: object) -> list[object] | None:
    """The members of an iterable; None where there is nothing to iterate over."""
    try:
        return list(values) if isinstance(values, Iterable) else None
    except Exception:  # raised by a class that is not ours
        return None


def mapping(setting: str, value: Mapping[str, Value]) -> dict[str, Value]:
    """The value as a dictionary; raises `BadSetting` when it is no mapping of names."""
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise BadSetting(f"{setting}={quoted(value)} is not possible; give names with values: {{'name': value}}.")
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
            raise BadSetting(f"{setting}={quoted(value)} is not possible; give a word, a number or a list of them.")
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
    raise BadSetting(f"{setting}={quoted(value)} is not possible; give {' or '.join(words[kind] for kind in kinds)}.")


# Messages of libraries and names from files, shortened to one line so that they fit into our own sentences.

MOST_CHARACTERS, MOST_NAMES, MOST_LISTED = 200, 50, 700
MOST_OF_SETTING = 60  # characters of a setting, which may be hundreds of texts, in a title that is too long


def reason(error: BaseException) -> str:
    """An error's message in one line; the name of its class where it has none."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    message = " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]
    message = f"there is no {message}" if isinstance(error, KeyError) else message
    return clipped(_without_class_signs(message).rstrip("."))


def _without_class_signs(text: str) -> str:
    return re.sub(r"<class '([^']*)'>", r"\1", text)


def quoted(value: object) -> str:
    """A value as Python writes it; one that it writes as an address, or cannot write at all, by the name of its
    class.
    """
    try:
        text = repr(value)
    except Exception:  # raised by a class that is not ours
        text = " object at 0x"
    kind = value.__name__ if isinstance(value, type) else type(value).__name__
    return clipped(kind if " at 0x" in text else _without_class_signs(text))


def listed(names: Iterable[str]) -> str:
    """Names with commas between them; of many names the first ones."""
    every = [clipped(name) for name in names]
    fitting = sum(end <= MOST_LISTED for end in accumulate(map(len, every)))
    count = min(max(fitting, 1), MOST_NAMES)
    shown, more = ", ".join(every[:count]), len(every) - count
    return f"{shown}, … ({more} more)" if more > 0 else shown


def clipped(text: str) -> str:
    """The beginning of a long text."""
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"


def shortened(text: str, most: int = 16) -> str:
    """The beginning of a text in one line, with … where more follows."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def short_title(title: str) -> str:
    """A call such as "name(window=2)" for people: where it is too long, the beginning of each setting."""
    if len(title) <= MOST_CHARACTERS:
        return title
    name, bracket, settings = title.partition("(")
    parts = re.split(r", (?=\w+=)", settings.removesuffix(")"))
    short = ", ".join(shortened(part, MOST_OF_SETTING) for part in parts)
    return clipped(f"{name}{bracket}{short}{')' if bracket else ''}")


def changes(before: Mapping[str, object], now: Mapping[str, object]) -> str:
    """The settings that differ: "epochs was 2 and is 3"; settings of settings by both names; "" where all are equal."""
    old, new = dict(_leaves(before)), dict(_leaves(now))
    differ = [name for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name)]
    return listed(f"{name} was {_setting(old.get(name))} and is {_setting(new.get(name))}" for name in differ)


def _leaves(settings: Mapping[str, object]) -> Iterable[tuple[str, object]]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", each) for inner, each in _leaves(value))
        else:
            yield name, list(value) if isinstance(value, tuple) else value


def _setting(value: object) -> str:
    return "not set" if value is None else quoted(value)


# Numbers as a reader wants them: few digits, a true minus sign, never a rounded-away value.

MINUS = "\u2212"
LARGE = 1e15  # from here on not all digits are those of the number


def readable_number(value: float) -> str:
    """Two decimals, two significant digits below .1, no decimals from 100, three significant digits from 1e+15."""
    size = abs(value)
    if size != size or size == float("inf"):
        return "not a number" if size != size else ("∞" if value > 0 else f"{MINUS}∞")
    form = ".3g" if size >= LARGE else ".0f" if size >= 100 else ".2f" if size >= 0.095 or size == 0 else ".2g"
    return format(value, form).replace("-", MINUS)


def percent(share: float) -> str:
    """A share as whole per cent; never 0 or 100 unless it is."""
    if share != share:
        return "unknown"
    if 0 < share < 0.005 or 0.995 < share < 1:
        return "under 1 %" if share < 0.5 else "over 99 %"
    return f"{share * 100:.0f} %".replace("-", "−")


# How hints are written: as an argument in Python, or as an option while the command line runs.

_on_command_line: ContextVar[bool] = ContextVar("on_command_line", default=False)


@contextmanager
def command_line_syntax() -> Iterator[None]:
    """Within it, hints are written as options of the command line."""
    before = _on_command_line.set(True)
    try:
        yield
    finally:
        _on_command_line.reset(before)


def in_syntax(python: str, command_line: str) -> str:
    """The option while the command line runs, else the argument in Python."""
    return command_line if _on_command_line.get() else python
