"""A mean with its 95 % interval, a curve of such means, and how both are read from a file."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

from pellucid.base.wording import quoted
from pellucid.text.example import is_utf8

LARGEST = 3.5e38  # about the largest number of float32; a page cannot draw larger ones


@dataclass(frozen=True)
class Interval:
    """A mean with the bounds of its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:z.3f} [{self.low:z.3f}, {self.high:z.3f}]"  # z: no minus before zero

    @property
    def excludes_zero(self) -> bool:
        """Whether 0 lies outside the interval."""
        return self.low > 0 or self.high < 0


class CurveRecord(TypedDict):
    """A curve in a table's file."""

    method: str
    metric: str
    grid: list[float]
    mean: list[float]
    low: list[float]
    high: list[float]


@dataclass(frozen=True)
class Curve:
    """A metric's curve for one method: at each point of the grid the mean over examples and its 95 % interval."""

    method: str
    metric: str
    grid: tuple[float, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


def interval_from(record: Mapping[str, object]) -> Interval:
    """The interval of a record; raises `ValueError` for values that are no numbers."""
    return Interval(**{name: number_from(value) for name, value in record.items()})


def curve_from(record: CurveRecord) -> Curve:
    """The curve of a record; raises `ValueError` for lines that differ in length or cannot be drawn."""
    lines = [
        tuple(map(number_from, line))
        for line in (record["grid"], record["mean"], record["low"], record["high"])
    ]
    if len(set(map(len, lines))) > 1:
        raise ValueError("the lines of a curve differ in length")
    grid = lines[0]
    if not grid or not all(map(_plottable, grid)):
        raise ValueError("a curve lies over no points, or over points that are no numbers")
    return Curve(word_from(record["method"]), word_from(record["metric"]), *lines)


def word_from(value: object) -> str:
    """A string of a record; raises `ValueError` for anything else."""
    if not isinstance(value, str) or not is_utf8(value):
        raise misplaced(value)
    return value


def number_from(value: object) -> float:
    """A number that can be drawn, or nan where it is not known, for which JSON has null."""
    if value is None:
        return math.nan
    if not isinstance(value, int | float) or isinstance(value, bool) or value in (math.inf, -math.inf):
        raise misplaced(value)
    number = float(value)
    if not (math.isnan(number) or _plottable(number)):
        raise ValueError(f"{quoted(value)} is larger than any score")
    return number


def _plottable(number: float) -> bool:
    return abs(number) <= LARGEST


def misplaced(value: object) -> ValueError:
    """The error for a value of another kind than its field's."""
    return ValueError(f"{quoted(value)} stands where it cannot")
