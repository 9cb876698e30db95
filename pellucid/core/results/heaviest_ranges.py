"""The heaviest ranges of a text: neighbouring units of one text, as ranges of the numbers of content units."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from pellucid.core.results.explanation import Explanation
from pellucid.core.text.ranges import Pick, first_of, largest_sums
from pellucid.core.text.tied_units import ORDERS, contents_of, drawn_numbers, pick_drawn
from pellucid.core.text.units import SPECIAL, Kind, Spans, Units


def heaviest(explanation: Explanation, unit: Kind, count: int = 1) -> tuple[Kind, list[range]]:
    """(the kind of unit that the numbers count, the heaviest ranges that share no unit, the heaviest first).

    For span scores these are the spans with the highest scores, counted in the model's own parts. For other scores, it is
    the range of units with the largest sum of (score - mean score), then the next one (corrections.md A0.10,
    `max_sum_centred`; the range with the highest mean score would be a single unit). Of equally heavy ones the first.
    """
    parts, choose = _chooser(explanation, unit)
    return parts.kind, choose(count, first_of)  # type: ignore[return-value]


def heaviest_choices(explanation: Explanation, unit: Kind, count: int = 1) -> tuple[Kind, list[list[range]]]:
    """What `heaviest` returns, as several choices where ranges are equally heavy, each as good as the others; else as one.

    What a metric makes of a choice is averaged over them.
    """
    parts, choose = _chooser(explanation, unit)
    numbers = drawn_numbers(contents_of(parts))[0]
    choices = [choose(count, pick_drawn(numbers, turn)) for turn in range(ORDERS)]
    return parts.kind, choices if any(one != choices[0] for one in choices) else choices[:1]  # type: ignore[return-value]


def _chooser(explanation: Explanation, unit: Kind) -> tuple[Units, Callable[[int, Pick], list[range]]]:
    """The units that ranges are made of, and a function of how many ranges, and which of equally heavy ones."""
    units = explanation.units
    if isinstance(units, Spans):
        return units.parts, partial(_heaviest_spans, units, explanation.scores)
    view = explanation.view(unit)
    scores = np.array(view.scores, dtype=np.float64)[~view.special]
    gains = scores - scores.mean() if len(scores) else scores
    assert isinstance(view.units, Units)  # views of text units are never spans
    return view.units, partial(richest, gains, texts_of(view.units))


def _heaviest_spans(spans: Spans, scores: np.ndarray, count: int, pick: Pick) -> list[range]:
    """The spans with the highest scores that share no part, as ranges of the numbers of content parts."""
    number_of = np.cumsum([segment != SPECIAL for segment in spans.parts.segment]) - 1
    first, last = number_of[np.asarray(spans.first)], number_of[np.asarray(spans.last)]
    free, ranges = np.ones(len(scores), dtype=bool), list[range]()
    while free.any() and len(ranges) < count:
        best = np.flatnonzero(free & (scores == scores[free].max()))
        ranges.append(pick([range(first[index], last[index] + 1) for index in best]))
        free &= (first >= ranges[-1].stop) | (last < ranges[-1].start)
    return ranges


def texts_of(units: Units) -> list[int]:
    """For each content unit, the number of its text."""
    return [segment for segment in units.segment if segment != SPECIAL]


def texts_with_spans(spans: Spans) -> list[int]:
    """For each content unit the number of its text; -1 where the model has no span in that text, as in the first of a pair with of="second"."""
    texts = texts_of(spans.parts)
    with_spans = {spans.parts.segment[int(first)] for first in np.unique(spans.first)}
    return [text if text in with_spans else SPECIAL for text in texts]


def richest(gains: np.ndarray, texts: Sequence[int], count: int, pick: Pick = first_of) -> list[range]:
    """The ranges within one text with the largest sums of gains, the largest first; `pick` chooses among equal ones."""
    borders = [unit for unit in range(1, len(texts)) if texts[unit] != texts[unit - 1]]
    whole_texts = [range(first, stop) for first, stop in pairwise([0, *borders, len(texts)]) if stop > first]
    return largest_sums(gains, whole_texts, count, pick)
