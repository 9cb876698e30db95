"""Random span: any span of the text, all equally likely: what an extractor has to beat."""

from collections.abc import Iterator

import torch

from pellucid.core.foundation.kinds import extractors
from pellucid.core.results.explanation import Scored
from pellucid.core.text.example import Example
from pellucid.core.text.ranges import without
from pellucid.core.text.units import Units
from pellucid.extraction.extraction_request import ExtractionRequest, SelectedSpans, joined
from pellucid.extraction.selection import BY_SPANS


@extractors.add(selection=BY_SPANS, selections=(BY_SPANS,))
def random_span(request: ExtractionRequest) -> Iterator[SelectedSpans]:
    """Spans drawn from all of a text's spans, none over another; they cover about a third of it."""
    for _, example, words, fresh in request.seeded_texts("random_span"):
        spans = [_of(example, words, selection.n_spans, fresh()) for selection in request.selections]
        yield SelectedSpans(example, words, spans)


def _of(example: Example, words: Units, n_spans: int, generator: torch.Generator) -> list[Scored]:
    segments = sorted(set(words.segment))
    return [span for segment in segments for span in _drawn(example, words, segment, n_spans, generator)]


def _drawn(
    example: Example, words: Units, segment: int, n_spans: int, generator: torch.Generator
) -> list[Scored]:
    inside = words.take([n for n, found in enumerate(words.segment) if found == segment])
    free: list[range] = [range(len(inside))]
    chosen: list[range] = []
    while free and len(chosen) < n_spans:
        counts = torch.tensor([len(room) * (len(room) + 1) / 2 for room in free])
        room = free[int(torch.multinomial(counts, 1, generator=generator))]
        # A span is two borders among len + 1: drawing them draws each span equally often.
        first, stop = sorted(torch.randperm(len(room) + 1, generator=generator)[:2].tolist())
        chosen.append(range(room.start + first, room.start + stop))
        free = without(free, chosen[-1])
    chosen.sort(key=lambda stretch: stretch.start)
    return [joined(example, inside, stretch, 0.0) for stretch in chosen]
