"""Orders of a text's units by score, where equal scores stand in orders drawn from what the units are, not from where they stand.

Reading order would let the place of a text's evidence decide what a method is worth that scores most words 0. The draws are the
same for every method, alone or beside other texts, and for a text whose words stand in another order.
"""

from collections.abc import Sequence

import numpy as np

from pellucid.base.json_text import json_digest
from pellucid.text.ranges import Pick
from pellucid.text.units import Spans, Units

TIES = "mean over orders of equal scores"  # the rule's name in records of numbers that follow it
ORDERS = 4  # of a text with equal scores; see docs/how-to/add-a-metric.md for what more of them would change


def contents_of(units: Units) -> list[str]:
    """For each of the text's units what it is: its text of a pair, and its characters; special tokens left out."""
    return [f"{units.segment[unit]} {units.labels[unit]}" for unit in units.content]


def drawn_numbers(contents: Sequence[str], count: int = 1) -> np.ndarray:
    """[draw unit]: random numbers, 0 to 1, that depend on what all units are; units that are the same get different ones."""
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
        ends = np.array([(one.start, one.stop - 1) for one in ranges])
        order = drawn_for_ranges(numbers, *ends.T).argsort()
        return ranges[order[turn * len(ranges) // ORDERS]]

    return pick


def tied_orders(scores: np.ndarray, contents: Sequence[str]) -> list[list[int]]:
    """Orders of the units, highest score first: one where no two scores are equal, else `ORDERS`, each as likely as the others.

    scores: [unit]. Within equal scores they are turns of one drawn order, evenly spaced: each unit comes first about as often as
    the others, and of two units each comes first in half of the orders.
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
