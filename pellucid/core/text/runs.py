"""Stretches of neighbouring units that are all scored above a bar: what a choice of words looks like in the text."""

from itertools import groupby

import numpy as np

from pellucid.core.text.units import SPECIAL, Units


def runs_above(units: Units, scores: np.ndarray, bar: float) -> list[tuple[int, int]]:
    """(first, last) unit of every stretch within one text whose scores [unit] lie above the bar.

    The best comes first: the one with the largest sum of scores over the mean of the text's units. A sum alone would
    favour long stretches, a mean single words.
    """
    special = units.special
    mean = float(scores[~special].mean()) if (~special).any() else 0.0
    above = [number for number in units.content if scores[number] > bar]
    groups = groupby(enumerate(above), key=lambda pair: (units.segment[pair[1]], pair[1] - pair[0]))
    found = [[number for _, number in group] for (segment, _), group in groups if segment != SPECIAL]
    weight = lambda run: float((scores[run] - mean).sum(dtype=np.float64))  # noqa: E731
    return [(run[0], run[-1]) for run in sorted(found, key=lambda run: (-weight(run), run[0]))]
