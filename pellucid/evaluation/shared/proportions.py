"""Shares of texts with intervals that are also right where nearly none or nearly all texts are counted.

Wilson (1927), "Probable Inference, the Law of Succession, and Statistical Inference"; for the difference of two
independent shares Newcombe (1998), "Interval Estimation for the Difference between Independent Proportions", method 10.
"""

import math

from pellucid.core.results.table import Interval

NOTHING = Interval(math.nan, math.nan, math.nan)


def share(count: int, of: int) -> Interval:
    """count / of with its 95 % Wilson interval; nan where there is nothing to count."""
    from scipy.stats import binomtest  # takes most of a second to import, and few callers need it

    if not of:
        return NOTHING
    bounds = binomtest(count, of).proportion_ci(0.95, method="wilson")
    return Interval(count / of, float(bounds.low), float(bounds.high))


def difference(first: Interval, second: Interval) -> Interval:
    """first - second of two independent shares with its 95 % interval, from their Wilson intervals."""
    down = math.hypot(first.mean - first.low, second.high - second.mean)
    up = math.hypot(first.high - first.mean, second.mean - second.low)
    over = first.mean - second.mean
    return Interval(over, over - down, over + up)
