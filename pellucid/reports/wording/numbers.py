"""Numbers as a reader wants them: few digits, a true minus sign, never a rounded-away value."""

from pellucid.core.results.table import Interval

MINUS = "\u2212"


def number(value: float) -> str:
    """Two decimals, two significant digits below .1, none from 100."""
    size = abs(value)
    if size != size or size == float("inf"):
        return "not a number" if size != size else ("∞" if value > 0 else f"{MINUS}∞")
    form = ".0f" if size >= 100 else ".2f" if size >= 0.095 or size == 0 else ".2g"
    return format(value, form).replace("-", MINUS)


def signed(value: float) -> str:
    """The number with its sign; 0 has none."""
    return f"+{number(value)}" if value > 0 else number(value)


def weight(value: float) -> str:
    """A weight between 0 and 1 without its leading 0: .42"""
    return f"{value:.2f}".removeprefix("0") if value >= 0.005 else "less than .01"


def percent(share: float) -> str:
    """A share as whole per cent; never 0 or 100 unless it is."""
    if share != share:
        return "unknown"
    if 0 < share < 0.005 or 0.995 < share < 1:
        return "under 1 %" if share < 0.5 else "over 99 %"
    return f"{share * 100:.0f} %"


def unbroken(words: str) -> str:
    """Words that stay on one line."""
    return words.replace(" ", "\u00a0")


def bounds(interval: Interval) -> str:
    """The interval's ends with equal decimals: .281 to .341"""
    return f"{three(interval.low)} to {three(interval.high)}"


def three(value: float) -> str:
    """Three decimals: what a table aligns."""
    return format(value, ".3f").replace("-", MINUS) if value == value else "–"
