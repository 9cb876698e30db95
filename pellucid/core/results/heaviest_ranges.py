"""The heaviest stretches of a text: runs of neighbouring units of one text, as ranges of the numbers of content units."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from pellucid.core.results.explanation import Explanation
from pellucid.core.text.ranges import largest_sums
from pellucid.core.text.units import SPECIAL, Kind, Spans, Units


def heaviest(explanation: Explanation, unit: Kind, count: int = 1) -> tuple[Kind, list[range]]:
    """The heaviest stretches that share no unit, heaviest first, and what their numbers count.

    Span scores: the spans with the highest scores, counted in the model's own parts. Other scores: the stretch of
    units whose scores exceed their mean by most in sum, again and again (corrections.md A0.10, `max_sum_centred`; the
    stretch with the highest mean would be a single unit).
    """
    units = explanation.units
    if isinstance(units, Spans):
        place = {part: number for number, part in enumerate(units.parts.content)}
        chosen = explanation.heaviest_spans(count)
        ends = [(place[int(units.first[index])], place[int(units.last[index])]) for index in chosen]
        return units.parts.kind, [range(first, last + 1) for first, last in ends]  # type: ignore[return-value]
    view = explanation.view(unit)
    scores = np.array(view.scores, dtype=np.float64)[~view.special]
    return unit, richest(scores - scores.mean() if len(scores) else scores, texts_of(view.units), count)  # type: ignore[arg-type]


def texts_of(units: Units) -> list[int]:
    """For each content unit, which text it stands in."""
    return [segment for segment in units.segment if segment != SPECIAL]


def richest(gains: np.ndarray, texts: Sequence[int], count: int) -> list[range]:
    """The stretches within one text with the largest sums of gains, one after the other."""
    borders = [place for place in range(1, len(texts)) if texts[place] != texts[place - 1]]
    rooms = [range(first, stop) for first, stop in pairwise([0, *borders, len(texts)]) if stop > first]
    return largest_sums(gains, rooms, count)
