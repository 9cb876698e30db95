"""Random span: any span of the text, all equally likely. Every other extractor has to beat it."""

from collections.abc import Iterator

import torch

from pellucid.core.foundation.kinds import extractors
from pellucid.core.text.ranges import without
from pellucid.extraction.extraction_request import ExtractionRequest, SegmentWords, SelectedSpans
from pellucid.extraction.selection import BY_SPANS, Selection


@extractors.add(selection=BY_SPANS, selections=(BY_SPANS,))
def random_span(request: ExtractionRequest) -> Iterator[SelectedSpans]:
    """Spans drawn from all of a text's spans, without overlap; they cover about a third of it."""
    return request.draw("random_span", _draw_ranges)


def _draw_ranges(segment: SegmentWords, selection: Selection, generator: torch.Generator) -> list[range]:
    free: list[range] = [range(len(segment.words))]
    ranges: list[range] = []
    while free and len(ranges) < selection.n_spans:
        counts = torch.tensor([len(gap) * (len(gap) + 1) / 2 for gap in free])  # spans inside each gap
        gap = free[int(torch.multinomial(counts, 1, generator=generator))]
        # A span is two borders among len + 1: drawing them draws each span equally often.
        first, stop = sorted(torch.randperm(len(gap) + 1, generator=generator)[:2].tolist())
        ranges.append(range(gap.start + first, gap.start + stop))
        free = without(free, ranges[-1])
    return sorted(ranges, key=lambda one: one.start)
