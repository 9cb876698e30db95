"""Random span of a length: spans as long as another extractor's, or as long as a budget, anywhere in the text.

A fairer comparison than `random_span`: an extractor that does better than this one does not do so by selecting more or
fewer words.
"""

from collections.abc import Iterator, Sequence

import torch

from pellucid.core.foundation.kinds import extractors
from pellucid.core.text.ranges import Pick, choose_ranges
from pellucid.extraction.extraction_request import ExtractionRequest, SegmentWords, SelectedSpans
from pellucid.extraction.selection import Selection


@extractors.add(selection="same_length", selections=("same_length", "budget", "best_words"))
def random_span_of_length(request: ExtractionRequest) -> Iterator[SelectedSpans]:
    """Spans of given lengths, each position equally likely; as many words in all as the other extraction has.

    With best_words the words are drawn one by one, and neighbours make one span, as in other extractors' best words.
    """
    return request.draw("random_span_of_length", _draw_ranges)


def _draw_ranges(segment: SegmentWords, selection: Selection, generator: torch.Generator) -> list[range]:
    n_words = len(segment.words)
    if selection.mode == "best_words":
        scores = torch.rand(n_words, generator=generator, dtype=torch.float32).numpy()
        return selection.by_words(scores, segment.number, segment.segment, segment.words.labels)
    return choose_ranges(
        n_words, selection.lengths(segment.number, segment.segment, n_words), _any(generator)
    )


def _any(generator: torch.Generator) -> Pick:
    def pick(ranges: Sequence[range]) -> range:
        return ranges[int(torch.randint(len(ranges), (1,), generator=generator))]

    return pick
