"""Means and shares with their intervals: Student's t over runs, and Wilson's interval of a share."""

import math
from collections.abc import Sequence
from statistics import NormalDist

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


# Shares of texts with intervals that are also right where nearly none or nearly all texts are counted.
#
# Wilson (1927), "Probable Inference, the Law of Succession, and Statistical Inference"; for the
# difference of two independent shares Newcombe (1998), "Interval Estimation for the Difference between
# Independent Proportions", method 10.


Z = NormalDist().inv_cdf(0.975)
NOTHING = Interval(math.nan, math.nan, math.nan)


def share(count: float, of: int) -> Interval:
    """count / of with its 95 % Wilson interval; nan where there is nothing to count. count: a sum of shares, 0 to `of`."""
    if not of:
        return NOTHING
    mean, width = count / of, Z * Z / of
    half = Z * math.sqrt(mean * (1 - mean) / of + width / (4 * of))
    low, high = (mean + width / 2 - half) / (1 + width), (mean + width / 2 + half) / (1 + width)
    return Interval(
        mean, low if count else 0.0, high if count < of else 1.0
    )  # exact where rounding would not be


def difference(first: Interval, second: Interval) -> Interval:
    """first - second of two independent shares with its 95 % interval, from their Wilson intervals."""
    down = math.hypot(first.mean - first.low, second.high - second.mean)
    up = math.hypot(first.high - first.mean, second.mean - second.low)
    over = first.mean - second.mean
    return Interval(over, over - down, over + up)
