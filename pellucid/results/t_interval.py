"""t-intervals: of a mean, and of the difference of two means whose spreads may differ (Welch 1947)."""

import math
from collections.abc import Sequence

import numpy as np

from pellucid.results.table import Interval

LEVEL = 0.975  # two-sided 95 %


def t_interval(values: Sequence[float] | np.ndarray) -> Interval:
    """The mean of values with its 95 % t-interval; nan bounds below two values, nan everywhere without any."""
    numbers = np.asarray(values, dtype=np.float64)
    if not len(numbers):
        return Interval(math.nan, math.nan, math.nan)
    mean, half = float(numbers.mean()), math.nan
    if len(numbers) > 1:
        half = _quantile(len(numbers) - 1) * float(numbers.std(ddof=1)) / math.sqrt(len(numbers))
    return Interval(mean, mean - half, mean + half)


def difference_interval(first: Sequence[float], second: Sequence[float]) -> Interval:
    """mean(first) - mean(second) with Welch's 95 % t-interval; nan bounds where one side has fewer than two values."""
    one, other = (np.asarray(values, dtype=np.float64) for values in (first, second))
    mean = float(one.mean() - other.mean())
    if min(len(one), len(other)) < 2:
        return Interval(mean, math.nan, math.nan)
    errors = [float(values.var(ddof=1)) / len(values) for values in (one, other)]
    if not sum(errors):
        return Interval(mean, mean, mean)
    parts = sum(error**2 / (len(values) - 1) for error, values in zip(errors, (one, other), strict=True))
    half = _quantile(sum(errors) ** 2 / parts) * math.sqrt(sum(errors))
    return Interval(mean, mean - half, mean + half)


def _quantile(freedom: float) -> float:
    from scipy.special import stdtrit  # takes a tenth of a second to import, and few callers need it

    return float(stdtrit(freedom, LEVEL))
