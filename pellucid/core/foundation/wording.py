"""What libraries and strangers say, made fit for one sentence of ours: one line, and not too long."""

import re
from collections.abc import Iterable
from itertools import accumulate
from typing import Any

MOST_CHARACTERS, MOST_NAMES, MOST_LISTED = 200, 50, 700


def reason(error: BaseException) -> str:
    """What an error says, in one line; its kind where it says nothing."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    told = " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]
    told = f"there is no {told}" if isinstance(error, KeyError) else told
    return clipped(re.sub(r"<class '([^']*)'>", r"\1", told).rstrip("."))


def quoted(value: Any) -> str:
    """A value as Python writes it."""
    return clipped(repr(value))


def listed(names: Iterable[str]) -> str:
    """Names with commas between them, the first ones of many."""
    every = [clipped(name) for name in names]
    fitting = sum(end <= MOST_LISTED for end in accumulate(map(len, every)))
    count = min(max(fitting, 1), MOST_NAMES)
    shown, more = ", ".join(every[:count]), len(every) - count
    return f"{shown}, … ({more} more)" if more > 0 else shown


def clipped(text: str) -> str:
    """The beginning of a long text."""
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"
