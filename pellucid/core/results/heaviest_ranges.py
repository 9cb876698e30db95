"""The heaviest ranges of a text: neighbouring units of one text, as ranges of the numbers of content units."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from pellucid.core.results.explanation import Explanation
from pellucid.core.text.ranges import largest_sums
from pellucid.core.text.units import SPECIAL, Kind, Spans, Units


def heaviest(explanation: Explanation, unit: Kind, count: int = 1) -> tuple[Kind, list[range]]:
    """(the kind of unit that the numbers count, the heaviest ranges that share no unit, the heaviest first).

    For span scores these are the spans with the highest scores, counted in the model's own parts. For other scores, it is
    the range of units with the largest sum of (score - mean score), then the next one (corrections.md A0.10,
    `max_sum_centred`; the range with the highest mean score would be a single unit).
    """
    units = explanation.units
    if isinstance(units, Spans):
        number_of = {part: number for number, part in enumerate(units.parts.content)}
        spans = explanation.heaviest_spans(count)
        ends = [(number_of[int(units.first[span])], number_of[int(units.last[span])]) for span in spans]
        return units.parts.kind, [range(first, last + 1) for first, last in ends]  # type: ignore[return-value]
    view = explanation.view(unit)
    scores = np.array(view.scores, dtype=np.float64)[~view.special]
    return unit, richest(scores - scores.mean() if len(scores) else scores, texts_of(view.units), count)  # type: ignore[arg-type]


def texts_of(units: Units) -> list[int]:
    """For each content unit, the number of its text."""
    return [segment for segment in units.segment if segment != SPECIAL]


def texts_with_spans(spans: Spans) -> list[int]:
    """For each content unit the number of its text; -1 where the model has no span in that text, as in the first of a pair with of="second"."""
    texts = texts_of(spans.parts)
    with_spans = {spans.parts.segment[int(first)] for first in np.unique(spans.first)}
    return [text if text in with_spans else SPECIAL for text in texts]


def richest(gains: np.ndarray, texts: Sequence[int], count: int) -> list[range]:
    """The ranges within one text with the largest sums of gains, the largest first."""
    borders = [unit for unit in range(1, len(texts)) if texts[unit] != texts[unit - 1]]
    whole_texts = [range(first, stop) for first, stop in pairwise([0, *borders, len(texts)]) if stop > first]
    return largest_sums(gains, whole_texts, count)
