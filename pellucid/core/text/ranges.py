"""Stretches of neighbouring units: how many units a share is, and where stretches of given lengths find room."""

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

Pick = Callable[[Sequence[range]], range]  # chooses one of several places


def top_count(units: int, fraction: float) -> int:
    """How many units a fraction of a text is: rounded up as in ERASER's code, at least one."""
    return max(1, math.ceil(fraction * units - 1e-9))  # .07 * 100 is 7.000000000000001 in floating point


def shared_out(count: int, n: int) -> list[int]:
    """A number of units as n lengths that differ by at most one; fewer where there are not enough units."""
    n = min(n, count)
    return [count // n + (number < count % n) for number in range(n)]


def choose_ranges(units: int, lengths: Iterable[int], pick: Pick) -> list[range]:
    """Stretches of these lengths that do not overlap, longest first, each where pick wants it; in reading order.

    A length that finds no room takes the longest free stretch, and what is left of it is placed after that: as many
    units are taken as the lengths ask for, or all.
    """
    free, chosen, waiting = [range(units)], [], sorted(lengths, reverse=True)
    while waiting and free:
        asked, longest = waiting.pop(0), max(map(len, free))
        length = min(asked, longest)
        if asked > longest:
            waiting = sorted([*waiting, asked - longest], reverse=True)
        firsts = [first for room in free for first in range(room.start, room.stop - length + 1)]
        chosen.append(pick([range(first, first + length) for first in firsts]))
        free = without(free, chosen[-1])
    return sorted(chosen, key=lambda stretch: stretch.start)


def without(free: Sequence[range], taken: range) -> list[range]:
    """What is left of free stretches once one is taken out of one of them."""
    pieces = []
    for room in free:
        if room.start <= taken.start and taken.stop <= room.stop:
            pieces += [range(room.start, taken.start), range(taken.stop, room.stop)]
        else:
            pieces.append(room)
    return [piece for piece in pieces if len(piece)]


def highest_mean(scores: np.ndarray) -> Pick:
    """Picks, of places of one length, the one with the highest mean score [unit]; of equal ones the first."""
    sums = np.concatenate([[0.0], np.cumsum(scores, dtype=np.float64)])
    return lambda places: max(places, key=lambda place: (sums[place.stop] - sums[place.start]) / len(place))


def runs(mask: np.ndarray) -> list[range]:
    """The stretches of neighbouring True units."""
    edges = np.diff(np.concatenate([[0], mask.astype(int), [0]]))
    found = zip(np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist(), strict=True)
    return [range(first, stop) for first, stop in found]


def largest_sums(gains: np.ndarray, rooms: Sequence[range], count: int) -> list[range]:
    """The stretches within these rooms with the largest sums of gains [unit], one after the other; none overlap.

    Of equal ones the first, and of those the shortest; fewer than `count` where there is no room left.
    """
    free, found = list(rooms), list[range]()
    while free and len(found) < count:
        _, best = max((_largest_sum(gains, room) for room in free), key=lambda held: held[0])
        found.append(best)
        free = without(free, best)
    return found


def _largest_sum(gains: np.ndarray, room: range) -> tuple[float, range]:
    """The largest sum of neighbouring gains and its stretch, by Kadane's pass."""
    best, where, total, first = -np.inf, room, 0.0, room.start
    for place in room:
        if total <= 0:
            total, first = 0.0, place
        total += gains[place]
        if total > best:
            best, where = total, range(first, place + 1)
    return float(best), where
