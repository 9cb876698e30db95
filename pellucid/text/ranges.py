"""Ranges of units: runs, joined and cut; and the orders of units whose scores are equal."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Protocol

import numpy as np

from pellucid.base.json_text import json_digest
from pellucid.text.units import SPECIAL, Spans, Units

Pick = Callable[[Sequence[range]], range]  # several possible ranges -> one of them
ROUNDING = 1e-12  # of the sums of a text's scores: what differs by less is equal


def top_count(units: int, fraction: float) -> int:
    """How many units a fraction of a text is: rounded up as in ERASER's code, at least one."""
    return max(1, math.ceil(fraction * units - 1e-9))  # .07 * 100 is 7.000000000000001 in floating point


def shared_out(count: int, n: int) -> list[int]:
    """n lengths that differ by at most one and add up to `count`; fewer lengths where there are fewer units."""
    n = min(n, count)
    return [count // n + (index < count % n) for index in range(n)]


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
    return sorted(ranges, key=lambda span: span.start)


def without(free: Sequence[range], removed: range) -> list[range]:
    """The free ranges, less one range that lies in one of them."""
    rest = []
    for part in free:
        if part.start <= removed.start and removed.stop <= part.stop:
            rest += [range(part.start, removed.start), range(removed.stop, part.stop)]
        else:
            rest.append(part)
    return [part for part in rest if len(part)]


def first_of(ranges: Sequence[range]) -> range:
    """Picks the first."""
    return ranges[0]


def highest_mean(scores: np.ndarray, pick: Pick = first_of) -> Pick:
    """Picks, of ranges of one length, the one with the highest mean score [unit].

    pick: which of those that are equal but for rounding; without it, of exactly equal ones the first.
    """
    sums = np.concatenate([[0.0], np.cumsum(scores, dtype=np.float64)])
    rounding = 0.0 if pick is first_of else ROUNDING * float(np.abs(sums).max())

    def best(ranges: Sequence[range]) -> range:
        means = np.array([(sums[span.stop] - sums[span.start]) / len(span) for span in ranges])
        return pick([ranges[index] for index in np.flatnonzero(means >= means.max() - rounding).tolist()])

    return best


def runs(mask: np.ndarray) -> list[range]:
    """The longest ranges of neighbouring True units."""
    edges = np.diff(np.concatenate([[0], mask.astype(int), [0]]))
    borders = zip(np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist(), strict=True)
    return [range(first, stop) for first, stop in borders]


def runs_above(units: Units, scores: np.ndarray, bar: float) -> list[tuple[int, int]]:
    """(first, last) unit of every longest range within one text whose scores [unit] are all above the bar.

    The best comes first: the one with the largest sum of scores less the mean score of the text. A plain sum would
    favour long ranges, a plain mean single words.
    """
    special = units.special
    mean = float(scores[~special].mean()) if (~special).any() else 0.0
    above = [unit for unit in units.content if scores[unit] > bar]
    groups = groupby(enumerate(above), key=lambda pair: (units.segment[pair[1]], pair[1] - pair[0]))
    members = [[unit for _, unit in group] for (segment, _), group in groups if segment != SPECIAL]
    weight = lambda run: float((scores[run] - mean).sum(dtype=np.float64))  # noqa: E731
    return [(run[0], run[-1]) for run in sorted(members, key=lambda run: (-weight(run), run[0]))]


def largest_sums(gains: np.ndarray, free: Sequence[range], count: int, pick: Pick = first_of) -> list[range]:
    """The ranges within these free ranges with the largest sums of gains [unit], the largest first; none overlap.

    Of equal ones those that have no equal one inside, and of these what `pick` picks, without it the first; fewer than
    `count` where no free unit is left. With a pick, sums are equal that differ by rounding.
    """
    free, best = list(free), list[range]()
    rounding = 0.0 if pick is first_of else ROUNDING * float(np.abs(gains).sum())
    while free and len(best) < count:
        sums = [summed for part in free for summed in _sums(gains, part, rounding)]
        highest = max(total for total, _ in sums) - rounding
        shortest = {span.start: span for total, span in reversed(sums) if total >= highest}
        best.append(pick(sorted(shortest.values(), key=lambda span: span.start)))
        free = without(free, best[-1])
    return best


def _sums(gains: np.ndarray, within: range, rounding: float) -> list[tuple[float, range]]:
    """For each unit the largest sum of neighbouring gains that ends there, and its shortest range, by Kadane's
    algorithm.
    """
    sums, total, first = [], 0.0, within.start
    for unit in within:
        if total <= rounding:
            total, first = 0.0, unit
        total += gains[unit]
        sums.append((float(total), range(first, unit + 1)))
    return sums


# The units that share a character with a place in a text.


class Characters(Protocol):
    """Characters [start, end) of a segment."""

    @property
    def segment(self) -> int:
        """The number of the text."""
        ...

    @property
    def start(self) -> int:
        """The first character."""
        ...

    @property
    def end(self) -> int:
        """Behind the last character."""
        ...


def pieces_at(units: Units, place: Characters) -> list[int]:
    """The numbers of the content units that share a character with a place, in order."""
    return [
        piece
        for piece in units.content
        if units.segment[piece] == place.segment and units.start[piece] < place.end and units.end[piece] > place.start
    ]


# Time steps of a text that is read, or written, piece by piece: the pieces whose states are explained one after the
# other.

EACH = "each"  # in place of positions: a row for the state at each step


def is_each(positions: object) -> bool:
    """Whether positions stand for every step; they may be anything that a caller gives, an array too."""
    return isinstance(positions, str) and positions == EACH


def steps_of(units: Units, writes: bool = False) -> tuple[int, ...]:
    """The numbers of the pieces that are steps: all of a text; of a pair the second text's, and the token between the
    two, at which the first one has been read. Other special tokens are no steps.

    writes: of a model that writes the second text, the pieces at which it writes: each stands before one of that text.
    """
    last = max((units.segment[piece] for piece in units.content), default=SPECIAL)
    steps = [piece for piece in units.content if units.segment[piece] == last]
    if writes:
        return tuple(piece - 1 for piece in steps)
    before = steps[0] - 1 if steps and last > 0 else SPECIAL
    return (before, *steps) if before >= 0 and units.segment[before] == SPECIAL else tuple(steps)


def step_labels(units: Units, writes: bool = False) -> tuple[str, ...]:
    """What each step is called where people see it: its number, from 1, and the piece that was read last, or that is
    written next.
    """
    pieces = (piece + writes for piece in steps_of(units, writes))
    return tuple(f"{step} {units.labels[piece]}" for step, piece in enumerate(pieces, 1))


# Orders of a text's units by score, where equal scores stand in orders drawn from what the units are, not from where
# they stand.
#
# Reading order would let the place of a text's evidence decide what a method is worth that scores most words 0. The
# draws are the same for every method, alone or beside other texts, and for a text whose words stand in another order.

TIES = "mean over orders of equal scores"  # the rule's name in records of numbers that follow it
ORDERS = 4  # of a text with equal scores; see docs/how-to/add-a-metric.md for what more of them would change


def contents_of(units: Units) -> list[str]:
    """For each of the text's units what it is: its text of a pair, and its characters; special tokens left out."""
    return [f"{units.segment[unit]} {units.labels[unit]}" for unit in units.content]


def drawn_numbers(contents: Sequence[str], count: int = 1) -> np.ndarray:
    """[draw unit]: random numbers, 0 to 1, that depend on what all units are; units that are the same get different
    ones.
    """
    by_content = sorted(range(len(contents)), key=contents.__getitem__)
    seed = int(json_digest([contents[unit] for unit in by_content]), 16)
    numbers = np.empty((count, len(contents)))
    numbers[:, by_content] = np.random.default_rng(seed).random(numbers.shape)
    return numbers


def drawn_order(scores: np.ndarray, contents: Sequence[str]) -> np.ndarray:
    """[unit]: the units by number, highest score first; equal scores in one drawn order."""
    ties = drawn_numbers(contents)[0] if has_ties(scores) else np.zeros(len(scores))
    return np.lexsort((ties, -scores))


def drawn_span_order(spans: Spans, scores: np.ndarray) -> np.ndarray:
    """[span]: the spans by number, highest score first; equal scores in one drawn order."""
    numbers = np.zeros(len(spans.parts))
    numbers[list(spans.parts.content)] = drawn_numbers(contents_of(spans.parts))[0]
    return np.lexsort((drawn_for_ranges(numbers, np.asarray(spans.first), np.asarray(spans.last)), -scores))


def drawn_for_ranges(numbers: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """[range]: a random number for each range of units, of those of its ends, so that it is the same read backwards.

    numbers: [... unit], as drawn. first, last: [range].
    """
    both: np.ndarray = numbers[..., first] + numbers[..., last]
    return both % 1.0


def pick_drawn(numbers: np.ndarray, turn: int = 0) -> Pick:
    """Picks one of several ranges by drawn numbers [unit]; `ORDERS` turns are spread evenly over them."""

    def pick(ranges: Sequence[range]) -> range:
        ends = np.array([(span.start, span.stop - 1) for span in ranges])
        order = drawn_for_ranges(numbers, *ends.T).argsort()
        return ranges[order[turn * len(ranges) // ORDERS]]

    return pick


def tied_orders(scores: np.ndarray, contents: Sequence[str]) -> list[list[int]]:
    """Orders of the units, highest score first: one where no two scores are equal, else `ORDERS`, each as likely as the
    others.

    scores: [unit]. Within equal scores they are turns of one drawn order, evenly spaced: each unit comes first about as
    often as the others, and of two units each comes first in half of the orders.
    """
    order = drawn_order(scores, contents)
    if not has_ties(scores):
        return [order.tolist()]
    groups = np.split(order, np.flatnonzero(np.diff(scores[order])) + 1)
    return [
        np.concatenate([np.roll(group, -(turn * len(group) // ORDERS)) for group in groups]).tolist()
        for turn in range(ORDERS)
    ]


def has_ties(scores: np.ndarray) -> bool:
    """Whether two of the scores [unit] are equal."""
    return len(np.unique(scores)) < len(scores)


def mean_of_orders(values: np.ndarray) -> np.ndarray:
    """[order ...] -> [...]: the mean over orders; of equal values exactly their value, which a sum would round."""
    first: np.ndarray = values[0]
    return first + (values - first).mean(0)
