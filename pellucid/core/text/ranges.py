"""Ranges of neighbouring units: how many units a share is, which ranges do not overlap, and which score highest."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

import numpy as np

from pellucid.core.text.units import SPECIAL, Units

Pick = Callable[[Sequence[range]], range]  # several possible ranges -> one of them


def top_count(units: int, fraction: float) -> int:
    """How many units a fraction of a text is: rounded up as in ERASER's code, at least one."""
    return max(1, math.ceil(fraction * units - 1e-9))  # .07 * 100 is 7.000000000000001 in floating point


def shared_out(count: int, n: int) -> list[int]:
    """n lengths that differ by at most one and add up to `count`; fewer lengths where there are fewer units."""
    n = min(n, count)
    return [count // n + (number < count % n) for number in range(n)]


def choose_ranges(units: int, lengths: Iterable[int], pick: Pick) -> list[range]:
    """Ranges of these lengths that do not overlap, in reading order; the longest is chosen first, each by `pick`.

    units: how many there are. A length that is longer than every free range takes the longest free one, and the rest of
    the length is chosen later: the ranges have as many units as the lengths add up to, or all units.
    """
    free, ranges, waiting = [range(units)], [], sorted(lengths, reverse=True)
    while waiting and free:
        wanted, longest = waiting.pop(0), max(map(len, free))
        length = min(wanted, longest)
        if wanted > longest:
            waiting = sorted([*waiting, wanted - longest], reverse=True)
        firsts = [first for part in free for first in range(part.start, part.stop - length + 1)]
        ranges.append(pick([range(first, first + length) for first in firsts]))
        free = without(free, ranges[-1])
    return sorted(ranges, key=lambda one: one.start)


def without(free: Sequence[range], removed: range) -> list[range]:
    """The free ranges, less one range that lies in one of them."""
    rest = []
    for part in free:
        if part.start <= removed.start and removed.stop <= part.stop:
            rest += [range(part.start, removed.start), range(removed.stop, part.stop)]
        else:
            rest.append(part)
    return [part for part in rest if len(part)]


def highest_mean(scores: np.ndarray) -> Pick:
    """Picks, of ranges of one length, the one with the highest mean score [unit]; of equal ones the first."""
    sums = np.concatenate([[0.0], np.cumsum(scores, dtype=np.float64)])
    return lambda ranges: max(ranges, key=lambda one: (sums[one.stop] - sums[one.start]) / len(one))


def runs(mask: np.ndarray) -> list[range]:
    """The longest ranges of neighbouring True units."""
    edges = np.diff(np.concatenate([[0], mask.astype(int), [0]]))
    borders = zip(np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist(), strict=True)
    return [range(first, stop) for first, stop in borders]


def runs_above(units: Units, scores: np.ndarray, bar: float) -> list[tuple[int, int]]:
    """(first, last) unit of every longest range within one text whose scores [unit] are all above the bar.

    The best comes first: the one with the largest sum of scores less the mean score of the text. A plain sum would favour
    long ranges, a plain mean single words.
    """
    special = units.special
    mean = float(scores[~special].mean()) if (~special).any() else 0.0
    above = [number for number in units.content if scores[number] > bar]
    groups = groupby(enumerate(above), key=lambda pair: (units.segment[pair[1]], pair[1] - pair[0]))
    members = [[number for _, number in group] for (segment, _), group in groups if segment != SPECIAL]
    weight = lambda run: float((scores[run] - mean).sum(dtype=np.float64))  # noqa: E731
    return [(run[0], run[-1]) for run in sorted(members, key=lambda run: (-weight(run), run[0]))]


def largest_sums(gains: np.ndarray, free: Sequence[range], count: int) -> list[range]:
    """The ranges within these free ranges with the largest sums of gains [unit], the largest first; none overlap.

    Of equal ones the first, and of those the shortest; fewer than `count` where no free unit is left.
    """
    free, best = list(free), list[range]()
    while free and len(best) < count:
        _, where = max((_largest_sum(gains, part) for part in free), key=lambda pair: pair[0])
        best.append(where)
        free = without(free, where)
    return best


def _largest_sum(gains: np.ndarray, within: range) -> tuple[float, range]:
    """The largest sum of neighbouring gains, and its range, by Kadane's algorithm."""
    best, where, total, first = -np.inf, within, 0.0, within.start
    for unit in within:
        if total <= 0:
            total, first = 0.0, unit
        total += gains[unit]
        if total > best:
            best, where = total, range(first, unit + 1)
    return float(best), where
