"""Numbers as a reader wants them: few digits, a true minus sign, never a rounded-away value."""

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
