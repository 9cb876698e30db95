"""Messages of libraries and names from files, shortened to one line so that they fit into our own sentences."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import accumulate

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
    """A value as Python writes it; one that it writes as an address, or cannot write at all, by the name of its class."""
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


def number(value: float) -> str:
    """Two decimals, two significant digits below .1, no decimals from 100, three significant digits from 1e+15."""
    size = abs(value)
    if size != size or size == float("inf"):
        return "not a number" if size != size else ("∞" if value > 0 else f"{MINUS}∞")
    form = (
        ".3g" if size >= LARGE else ".0f" if size >= 100 else ".2f" if size >= 0.095 or size == 0 else ".2g"
    )
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
