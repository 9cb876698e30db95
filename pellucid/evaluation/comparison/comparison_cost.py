"""What a comparison will cost, from a short trial: a few texts of different lengths, compared by all methods and metrics."""

import time
from dataclasses import dataclass, replace
from itertools import pairwise

from pellucid.core.foundation.progress import silent
from pellucid.core.text.example import Example
from pellucid.evaluation.comparison.compared_part import compared_part
from pellucid.evaluation.comparison.comparison import Comparison

STRATA = 4
"""The texts are sorted by length and cut into so many equal groups; the middle one of each is tried."""

WORTH_IT = 16 * STRATA
"""Of fewer texts the trial would be a large part of the work."""


@dataclass(frozen=True)
class ComparisonCost:
    """What a comparison will cost. texts: how many it compares. evaluations: edited texts that the model will read for the metrics.

    seconds: of all work. tried: how many texts this was judged by.
    """

    texts: int
    evaluations: int
    seconds: float
    tried: int


def comparison_cost(comparison: Comparison) -> ComparisonCost | None:
    """The cost of a comparison; None where it has too few texts for a trial to be worth it.

    Each group of texts of like length is taken to cost as much a text as its middle one. The shortest of these is compared once
    more before, since the first pass through a model is slower than the next.
    """
    n_texts = len(comparison.examples)
    if n_texts < WORTH_IT:
        return None
    ordered = sorted(comparison.examples, key=_length)
    borders = [n_texts * number // STRATA for number in range(STRATA + 1)]
    groups = [ordered[first:last] for first, last in pairwise(borders)]
    _trial(comparison, groups[0][len(groups[0]) // 2])
    evaluations, seconds = 0.0, 0.0
    for group in groups:
        rows, elapsed = _trial(comparison, group[len(group) // 2])
        evaluations += rows * len(group)
        seconds += elapsed * len(group)
    return ComparisonCost(n_texts, round(evaluations), seconds, STRATA)


def _trial(comparison: Comparison, example: Example) -> tuple[int, float]:
    """(evaluations, seconds) of one text. The share of marked words is that of the text, which changes no cost."""
    of_one = replace(comparison, examples=(example,), calls=comparison.metrics)
    began = time.perf_counter()
    part = compared_part(of_one, 0, silent)
    return part.judged.rows, time.perf_counter() - began


def _length(example: Example) -> int:
    return sum(map(len, example.segments))
