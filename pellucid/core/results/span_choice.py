"""Which of many spans are shown: those without overlap, the one that covers some characters, those as long as a unit."""

from collections.abc import Sequence

import numpy as np

from pellucid.core.foundation.errors import BadSetting
from pellucid.core.text.units import Spans, Units


def without_overlap(spans: Spans, ranking: Sequence[int], k: int) -> list[int]:
    """The first k spans of a ranking that share no part with an earlier one."""
    indices: list[int] = []
    covered = np.zeros(len(spans.parts), dtype=bool)
    for index in ranking:
        part = slice(int(spans.first[index]), int(spans.last[index]) + 1)
        if len(indices) < k and not covered[part].any():
            indices.append(index)
            covered[part] = True
    return indices


def smallest_cover(spans: Spans, segment: int, start: int, end: int) -> int:
    """The smallest span of a text that covers these characters; raises `BadSetting` when there is none."""
    offsets = enumerate(map(spans.characters, range(len(spans))))
    covering = [
        (last - first, index)
        for index, (own_segment, first, last) in offsets
        if own_segment == segment and first <= start and end <= last
    ]
    if not covering:
        raise BadSetting(f"No scored span covers characters {start} to {end} of text {segment}.")
    return min(covering)[1]


def equal_to_units(spans: Spans, units: Units) -> list[int]:
    """The spans that begin and end where one of these units does."""
    offsets = {(units.segment[n], units.start[n], units.end[n]) for n in units.content}
    return [index for index in range(len(spans)) if spans.characters(index) in offsets]
