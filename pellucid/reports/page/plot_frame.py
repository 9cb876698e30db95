"""Where the numbers of a plot are in its drawing, and the round numbers on its axes."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 360, 248
LEFT, RIGHT, TOP, BOTTOM = 34, 344, 26, 206


@dataclass(frozen=True)
class Frame:
    """The ranges of both axes; x and y turn values into positions in a 360 x 248 drawing."""

    x_range: tuple[float, float]
    y_range: tuple[float, float]

    def x(self, value: float) -> float:
        """The position of a value on the horizontal axis."""
        return round(LEFT + (RIGHT - LEFT) * _share(value, self.x_range), 2)

    def y(self, value: float) -> float:
        """The position of a value on the vertical axis, which grows upwards."""
        return round(BOTTOM - (BOTTOM - TOP) * _share(value, self.y_range), 2)

    def points(self, xs: Iterable[float], ys: Iterable[float]) -> str:
        """Pairs as an SVG list of points."""
        return " ".join(f"{self.x(x):g},{self.y(y):g}" for x, y in zip(xs, ys, strict=True))


def frame_of(xs: Sequence[float], ys: Sequence[float]) -> Frame:
    """A frame around all values; its vertical ends are round numbers."""
    known = [y for y in ys if math.isfinite(y)] or [0.0, 1.0]
    ticks = round_ticks(min(known), max(known))
    return Frame((min(xs), max(xs)), (ticks[0], ticks[-1]))


def round_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """At most about `most` round numbers that enclose the range."""
    span = high - low if high > low else max(abs(high), 1.0)
    raw = span / (most - 1)
    power = 10 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 10) for number in range(first, max(last, first + 1) + 1)]


def _share(value: float, ends: tuple[float, float]) -> float:
    low, high = ends
    return (value - low) / (high - low) if high > low else 0.5
