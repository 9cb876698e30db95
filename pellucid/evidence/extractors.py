"""Extractors: from a text to the scores of its spans, a function each."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch

from pellucid.base.kinds import extractors
from pellucid.evidence.extraction_request import (
    BY_SPANS,
    BY_WORDS,
    ENOUGH,
    ExtractionRequest,
    SegmentWords,
    SelectedSpans,
    Selection,
)
from pellucid.results.explanation import Explanation
from pellucid.run.target import Target
from pellucid.text.ranges import Pick, choose_ranges, without
from pellucid.text.units import Units, coarsen


@extractors.add(selection=BY_SPANS, selections=(BY_SPANS, *BY_WORDS, ENOUGH))
def span_attention(request: ExtractionRequest) -> Iterator[SelectedSpans]:
    """The top spans of each text, without overlap; selections by words share a span's weight among its words.

    The spans to which a self-explaining model gives the most weight.

    Source: Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", equation 4 and section
    4.
    """
    return request.select_by_method("span_attention", random_spans=0)  # no span is read alone: only weights select


@extractors.add(selection="max_sum_centred", selections=(*BY_WORDS, ENOUGH))
def average_attention(request: ExtractionRequest) -> Iterator[SelectedSpans]:
    """By the attention of the position that the classifier reads: the first piece in BERT-like models, as in the paper.

    Words by how much the position that the classifier reads attends to them in the last layer.

    Source: Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", section 5.3. The mean
    over heads; special tokens are left out and the rest is scaled to sum to 1 (corrections.md A0.11).
    The paper's rule of selection always selects one word (A0.10).
    """
    for index, explanation in enumerate(request.explain("attention", Target("predicted"))):
        yield request.select(index, among_words(explanation))


def among_words(explanation: Explanation) -> Explanation:
    """Attention to the text alone: special tokens get 0, the others sum to 1 (all are 0 where no attention is on
    text).
    """
    scores = np.where(explanation.special, 0.0, explanation.scores.astype(np.float64))
    return replace(explanation, scores=scores / (scores.sum() or 1.0))


@extractors.add(selection="max_sum_centred", selections=(*BY_WORDS, ENOUGH))
def average_gradient(request: ExtractionRequest, *, target: str = "gold") -> Iterator[SelectedSpans]:
    """By the l1 norm of the gradient of the target's probability by each word's embedding, summed over a word's pieces.

    Words by the size of the gradient of a class's probability.

    Source: Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", section 5.3: s(w) = ||d
    p(y|x) / d w||_1 with y the gold label, averaged over a span. The paper's rule of selection always
    selects one word (corrections.md A0.10).

    target: "gold" is the paper's, and needs the text's label; give "predicted" for texts whose label is not known.
    """
    return request.select_by_method("gradient", target, "probability", norm="l1")


@extractors.add(selection="above_half", selections=(*BY_WORDS, ENOUGH))
def rationale(request: ExtractionRequest) -> Iterator[SelectedSpans]:
    """By each word's probability of being in the rationale; "max_sum_centred" gives the best single span.

    The words that a rationale model reads.

    Source: Lei, Barzilay & Jaakkola (2016), "Rationalizing Neural Predictions"; the baseline
    "Rationale" of Sun et al. (2020), section 5.3. At test time the model reads a word if its
    probability is above a half.

    Where the model chooses pieces, a word has the probability of its likeliest piece.
    """
    for index, explanation in enumerate(request.explain("rationale", Target("predicted"))):
        yield request.select(index, by_likeliest_piece(explanation))


def by_likeliest_piece(explanation: Explanation) -> Explanation:
    """One probability a word: that of its likeliest piece, since a word is read where one of its pieces is."""
    pieces = explanation.units
    assert isinstance(pieces, Units)  # a rationale's
    words, index = coarsen(pieces, "word", explanation.example.segments)
    scores = np.zeros(len(words))
    np.maximum.at(scores, np.array(index, dtype=np.int64), explanation.scores)
    return replace(explanation, units=words, scores=scores)


@extractors.add(selection=BY_SPANS, selections=(BY_SPANS,))
def random_span(request: ExtractionRequest) -> Iterator[SelectedSpans]:
    """Spans drawn from all of a text's spans, without overlap; they cover about a third of it.

    Any span of the text, all equally likely. Every other extractor has to beat it.
    """
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
    return sorted(ranges, key=lambda word_range: word_range.start)


@extractors.add(selection="same_length", selections=("same_length", "budget", "best_words"))
def random_span_of_length(request: ExtractionRequest) -> Iterator[SelectedSpans]:
    """Spans of given lengths, each position equally likely; as many words in all as the other extraction has.

    Spans as long as another extractor's, or as long as a budget, anywhere in the text.

    Source: A fairer comparison than `random_span`: an extractor that does better than this one does not
    do so by selecting more or fewer words.

    With best_words the words are drawn one by one, and neighbours make one span, as in other extractors' best words.
    """
    return request.draw("random_span_of_length", _draw_ranges_of_length)


def _draw_ranges_of_length(segment: SegmentWords, selection: Selection, generator: torch.Generator) -> list[range]:
    n_words = len(segment.words)
    if selection.mode == "best_words":
        scores = torch.rand(n_words, generator=generator, dtype=torch.float32).numpy()
        return selection.by_words(scores, segment.index, segment.segment, segment.words.labels)
    return choose_ranges(n_words, selection.lengths(segment.index, segment.segment, n_words), _any(generator))


def _any(generator: torch.Generator) -> Pick:
    def pick(ranges: Sequence[range]) -> range:
        return ranges[int(torch.randint(len(ranges), (1,), generator=generator))]

    return pick
