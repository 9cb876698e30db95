"""Numbers as a reader wants them: few digits, a true minus sign, never a rounded-away value."""

from pellucid.base.wording import MINUS as MINUS
from pellucid.base.wording import number as number
from pellucid.base.wording import percent as percent
from pellucid.results.table import Interval


def signed(value: float) -> str:
    """The number with its sign; 0 has none."""
    return f"+{number(value)}" if value > 0 else number(value)


def weight(value: float) -> str:
    """A weight between 0 and 1 without its leading 0: .42"""
    return f"{value:.2f}".removeprefix("0") if value >= 0.005 else "less than .01"


def unbroken(words: str) -> str:
    """Words that stay on one line."""
    return words.replace(" ", "\u00a0")


def bounds(interval: Interval) -> str:
    """The interval's ends with equal decimals: .281 to .341"""
    return f"{three(interval.low)} to {three(interval.high)}"


def three(value: float) -> str:
    """Three decimals: what a table aligns."""
    return format(value, ".3f").replace("-", MINUS) if value == value else "–"
