"""Spans of every extractor in the words that ERASER counts, so that equal length is equal.

The benchmark's tokens stand between blanks, so a full stop belongs to the word before it. Our units are words and
punctuation. With lengths in tokens and scores in words, "the same length" was a fifth of a text for one extractor and a
quarter for another. So here a token gets the scores of its words, and spans are cut in tokens.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from pellucid.base.kinds import extractors
from pellucid.evidence.eraser_scores import documents
from pellucid.evidence.extraction_request import (
    ExtractionRequest,
    SelectedSpans,
    above_half,
    best_words,
    literal,
    windows,
)
from pellucid.results.explanation import Explanation
from pellucid.results.extraction import ExtractedSpan, Extraction
from pellucid.run.blank import generator_for
from pellucid.run.model import Model
from pellucid.run.target import Target
from pellucid.text.example import Example
from pellucid.text.lexicon import eraser_tokens, token_texts
from pellucid.text.ranges import choose_ranges, drawn_numbers, drawn_span_order
from pellucid.text.units import SPECIAL, Spans, Units

Lengths = Sequence[Sequence[int]]  # [example segment]: how many tokens are cut
CUTS = ("one span", "budget", "words")
RANDOM = "random_span"


@dataclass(frozen=True)
class ScoresOnly(ExtractionRequest):
    """An extractor's request that keeps the explanations and selects nothing."""

    explanations: list[Explanation] = field(default_factory=list)

    def select(self, number: int, explanation: Explanation) -> SelectedSpans:
        """Keep the explanation and select nothing."""
        self.explanations.append(explanation)
        return SelectedSpans(explanation.example, Units("word", (), (), (), ()), [])


def explanations_of(model: Model, texts: Sequence[Example], extractor: str, seed: int) -> list[Explanation]:
    """The scores by which an extractor chooses; those of span attention tell what its spans say alone, too."""
    scores_only = ScoresOnly(model, texts, (), seed)
    if extractor == "span_attention":
        return list(scores_only.explain(extractor, Target()))
    for _ in extractors.calls([(extractor, {})])[0](scores_only):
        pass
    return scores_only.explanations


def marked_tokens(texts: Sequence[Example]) -> float:
    """The mean share of a text's tokens that people marked."""
    return float(np.mean([_marked(one) for one in texts]))


def _marked(example: Example) -> float:
    bare = Extraction(example, (), 0, "", {}, 0)
    marked = sum(
        len({token for span in documents(bare, number)[1] for token in range(*span)})
        for number in range(len(example.segments))
    )
    return marked / sum(len(eraser_tokens(text)) for text in example.segments)


def lengths_of(texts: Sequence[Example], share: float) -> Lengths:
    """That share of each text's tokens, to the nearest whole one; at least one."""
    return [[max(1, round(share * len(eraser_tokens(segment)))) for segment in one.segments] for one in texts]


def cut_by_scores(
    explanations: Sequence[Explanation], extractor: str, lengths: Lengths, seed: int
) -> dict[str, list[Extraction]]:
    """The extractions of each cut.

    "one span": the paper's literal rule for scores of words, the heaviest span of span attention, all words that a
    rationale model reads. "budget": one span of the text's length. "words": as many of the best words, wherever they
    stand.
    """
    own = {"rationale": above_half, "span_attention": None}.get(extractor, literal)
    gather = np.maximum if extractor == "rationale" else np.add  # its words are read or not
    extractions: dict[str, list[Extraction]] = {cut: [] for cut in CUTS}
    for explanation, counts in zip(explanations, lengths, strict=True):
        scores = [token_scores(explanation, n, gather) for n in range(len(counts))]
        drawn = [drawn_numbers(token_texts(segment))[0] for segment in explanation.example.segments]
        if own is None:
            extractions["one span"].append(_heaviest(explanation, extractor, seed))
        for cut, choose in (("one span", own), ("budget", windows), ("words", best_words)):
            if choose is not None:
                documents_of = zip(scores, counts, drawn, strict=True)
                ranges = [choose(one, [count], 1, ties) for one, count, ties in documents_of]
                extractions[cut].append(_extraction(explanation.example, ranges, scores, extractor, seed))
    return extractions


def cut_at_random(model: Model, texts: Sequence[Example], lengths: Lengths, seed: int) -> dict[str, list[Extraction]]:
    """The same cuts by chance: any range of tokens, one of the text's length, and single tokens."""
    extractions: dict[str, list[Extraction]] = {cut: [] for cut in CUTS}
    for example, row, counts in zip(texts, model.encode(texts).rows, lengths, strict=True):
        generator = generator_for(row, RANDOM, seed)
        draw = np.random.default_rng(int(generator.initial_seed()))
        sizes = [len(eraser_tokens(segment)) for segment in example.segments]
        drawn = [draw.random(size) for size in sizes]
        by_cut: dict[str, list[list[range]]] = {
            "one span": [[_any_range(size, draw)] for size in sizes],
            "budget": [choose_ranges(size, [n], _any(draw)) for size, n in zip(sizes, counts, strict=True)],
            "words": [best_words(one, [n], 1, one) for one, n in zip(drawn, counts, strict=True)],
        }
        for cut, ranges in by_cut.items():
            extractions[cut].append(_extraction(example, ranges, drawn, RANDOM, seed))
    return extractions


def _any_range(size: int, draw: np.random.Generator) -> range:
    first, last = sorted(draw.integers(size, size=2).tolist())
    return range(first, last + 1)


def _any(draw: np.random.Generator) -> Callable[[Sequence[range]], range]:
    return lambda ranges: ranges[int(draw.integers(len(ranges)))]


def token_scores(explanation: Explanation, segment: int, gather: np.ufunc = np.add) -> np.ndarray:
    """[token] of one text: the scores of the words that begin in a token, gathered. A token without words gets the
    lowest.

    gather: `np.add` or `np.maximum`.
    """
    words = explanation.view("word")
    units = words.units
    assert isinstance(units, Units)
    inside = [n for n, of in enumerate(units.segment) if of == segment != SPECIAL]
    tokens = eraser_tokens(explanation.example.segments[segment])
    starts = [first for first, _ in tokens]
    token = np.searchsorted(starts, [units.start[n] for n in inside], side="right") - 1
    values = np.array([words.scores[n] for n in inside], dtype=np.float64)
    scores = np.zeros(len(tokens)) if gather is np.add else np.full(len(tokens), -np.inf)
    gather.at(scores, token, values)
    bare = np.setdiff1d(np.arange(len(tokens)), token)  # such as a full stop that is not read
    scores[bare] = min(values.min(initial=0.0), 0.0)
    return scores


def _heaviest(explanation: Explanation, extractor: str, seed: int) -> Extraction:
    """The heaviest span of each text of an example, by the model's weights; none in a text without spans."""
    units, spans, seen = explanation.units, [], set()
    assert isinstance(units, Spans)
    for index in drawn_span_order(units, explanation.scores).tolist():
        segment, start, end = units.characters(index)
        if segment not in seen:
            seen.add(segment)
            text = explanation.example.segments[segment][start:end]
            spans.append(ExtractedSpan(text, float(explanation.scores[index]), segment, start, end, range(0)))
        if len(seen) == len(explanation.example.segments):
            break
    spans.sort(key=lambda span: (span.segment, span.start))
    return Extraction(explanation.example, tuple(spans), 0, extractor, {}, seed)


def _extraction(
    example: Example,
    ranges: Sequence[Sequence[range]],
    scores: Sequence[np.ndarray],
    extractor: str,
    seed: int,
) -> Extraction:
    """Ranges of tokens [segment range] as an extraction."""
    spans, before = [], 0
    for segment, of_segment in enumerate(ranges):
        text = example.segments[segment]
        tokens = eraser_tokens(text)
        for one in of_segment:
            start, end = tokens[one.start][0], tokens[one.stop - 1][1]
            mean = float(scores[segment][one.start : one.stop].mean())
            numbers = range(before + one.start, before + one.stop)
            spans.append(ExtractedSpan(text[start:end], mean, segment, start, end, numbers))
        before += len(tokens)
    return Extraction(example, tuple(spans), before, extractor, {}, seed)
