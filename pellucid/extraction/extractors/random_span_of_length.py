"""Random span of a length: spans as long as another extractor's, or as a budget, anywhere in the text.

The fairer floor: whatever a transfer gains over it is not gained by reading more or fewer words.
"""

from collections.abc import Iterator, Sequence

import torch

from pellucid.core.foundation.kinds import extractors
from pellucid.core.results.explanation import Scored
from pellucid.core.text.example import Example
from pellucid.core.text.ranges import Pick, placed
from pellucid.core.text.units import Units
from pellucid.extraction.extraction_request import ExtractionRequest, SelectedSpans, joined
from pellucid.extraction.selection import Selection


@extractors.add(selection="same_length", selections=("same_length", "budget", "best_words"))
def random_span_of_length(request: ExtractionRequest) -> Iterator[SelectedSpans]:
    """Spans of given lengths, each place equally likely; as many words in all as the other extraction has.

    With best_words the words are drawn one by one, and neighbours make one span, as with everyone else's best words.
    """
    for number, example, words, fresh in request.seeded_texts("random_span_of_length"):
        spans = [_of(number, example, words, selection, fresh()) for selection in request.selections]
        yield SelectedSpans(example, words, spans)


def _of(
    number: int, example: Example, words: Units, selection: Selection, generator: torch.Generator
) -> list[Scored]:
    spans = []
    for segment in sorted(set(words.segment)):
        inside = words.take([n for n, found in enumerate(words.segment) if found == segment])
        for stretch in _drawn(number, segment, len(inside), selection, generator):
            spans.append(joined(example, inside, stretch, 0.0))
    return spans


def _drawn(
    number: int, segment: int, n_words: int, selection: Selection, generator: torch.Generator
) -> list[range]:
    if selection.mode == "best_words":
        return selection.by_words(torch.rand(n_words, generator=generator).numpy(), number, segment)
    return placed(n_words, selection.lengths(number, segment, n_words), _any(generator))


def _any(generator: torch.Generator) -> Pick:
    def pick(places: Sequence[range]) -> range:
        return places[int(torch.randint(len(places), (1,), generator=generator))]

    return pick
