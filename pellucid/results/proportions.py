"""Shares of texts with intervals that are also right where nearly none or nearly all texts are counted.

Wilson (1927), "Probable Inference, the Law of Succession, and Statistical Inference"; for the difference of two
independent shares Newcombe (1998), "Interval Estimation for the Difference between Independent Proportions", method 10.
"""

import math
from statistics import NormalDist

from pellucid.results.table import Interval

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
