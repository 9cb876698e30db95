"""What an extractor gets, and how scores of words become spans of a text."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral, Real

import numpy as np
import torch

from pellucid.base.checks import at_least, between, one_of, quoted
from pellucid.base.errors import BadSetting
from pellucid.base.processes import Progress, silent
from pellucid.results.explanation import Explanation, Scored
from pellucid.results.extraction import Extraction
from pellucid.run.batch import Batch, Row
from pellucid.run.blank import generator_for
from pellucid.run.explaining import Request, explain_batch, method_calls
from pellucid.run.model import WRITING, Model
from pellucid.run.packing import scheduler_for
from pellucid.run.read_alone import fewest_units, is_answer, only
from pellucid.run.scheduler import evaluate_rows
from pellucid.run.target import Output, Target, TargetName, class_probabilities
from pellucid.text.example import Example
from pellucid.text.ranges import (
    choose_ranges,
    drawn_numbers,
    drawn_span_order,
    highest_mean,
    largest_sums,
    pick_drawn,
    runs,
    shared_out,
    top_count,
)
from pellucid.text.units import SPECIAL, Spans, Units, coarsen

# scores [word], lengths, n_spans, drawn numbers [word] that settle equal scores -> ranges of words, in reading order
ChooseRanges = Callable[[np.ndarray, Sequence[int], int, np.ndarray], list[range]]
Budget = float | int
HALF = 0.5


def literal(scores: np.ndarray, lengths: Sequence[int], n_spans: int, drawn: np.ndarray) -> list[range]:
    """The spans with the highest mean: single words, since no mean exceeds the largest of its numbers."""
    return [range(word, word + 1) for word in sorted(_order(scores, drawn)[:n_spans])]


def windows(scores: np.ndarray, lengths: Sequence[int], n_spans: int, drawn: np.ndarray) -> list[range]:
    """The ranges of these lengths with the highest mean, without overlap; the longest is chosen first."""
    return choose_ranges(len(scores), lengths, highest_mean(scores, pick_drawn(drawn)))


def best_words(scores: np.ndarray, lengths: Sequence[int], n_spans: int, drawn: np.ndarray) -> list[range]:
    """As many of the best words as the budget allows, anywhere in the text; neighbours make one span."""
    return _united(scores, _order(scores, drawn)[: sum(lengths)])


def above_half(scores: np.ndarray, lengths: Sequence[int], n_spans: int, drawn: np.ndarray) -> list[range]:
    """All words that score more than a half, which are those that a gate lets through; else the best word."""
    above = np.flatnonzero(scores > HALF).tolist()
    return _united(scores, above or _order(scores, drawn)[:1])


def max_sum_centred(scores: np.ndarray, lengths: Sequence[int], n_spans: int, drawn: np.ndarray) -> list[range]:
    """The range with the largest sum of (score - mean score); up to n_spans of them while the sum is above 0."""
    centred = scores - scores.mean()
    rounding = np.abs(centred) <= 1e-9 * np.abs(scores).max(initial=0)  # all words score the same
    centred[rounding] = 0.0
    first, *others = largest_sums(centred, [range(len(scores))], n_spans, pick_drawn(drawn))
    return sorted(
        [first, *(word_range for word_range in others if centred[word_range].sum() > 0)],
        key=lambda word_range: word_range.start,
    )


def _order(scores: np.ndarray, drawn: np.ndarray) -> list[int]:
    return np.lexsort((drawn, -scores)).tolist()


def _united(scores: np.ndarray, words: Sequence[int]) -> list[range]:
    mask = np.zeros(len(scores), dtype=bool)
    mask[list(words)] = True
    return runs(mask)


BY_WORDS: Mapping[str, ChooseRanges] = {
    "literal": literal,
    "same_length": windows,
    "budget": windows,
    "best_words": best_words,
    "max_sum_centred": max_sum_centred,
    "above_half": above_half,
}
BY_SPANS = "top_spans"  # by the scores of spans; all others are by the scores of words
ENOUGH = "enough"  # by the scores of words and what the model answers to the best of them alone
TAKES_BUDGET = ("budget", "best_words")


@dataclass(frozen=True)
class Selection:
    """How scores become spans, each text of a pair by itself.

    mode: a name of `BY_WORDS`, or "top_spans". budget: a share of a text's words (a float up to 1, rounded up) or a
    number of words (an int). n_spans: how many spans a text has at most, in modes that do not fix it; together they are
    as long as the budget. like: extractions of the same examples; the new spans are as long as theirs. within: of
    "enough", how far the probability of the class may be from that of the whole text, 0 to 1. Raises `BadSetting` for
    settings that contradict each other.
    """

    mode: str
    budget: Budget | None = None
    n_spans: int = 1
    like: Sequence[Extraction] | None = None
    within: float | None = None

    def __post_init__(self) -> None:
        one_of("selection", self.mode, (*BY_WORDS, ENOUGH, BY_SPANS))
        at_least("n_spans", self.n_spans, 1)
        if (self.budget is not None) != (self.mode in TAKES_BUDGET):
            raise BadSetting(
                f"selection={self.mode!r} with budget={self.budget}: a budget belongs to "
                f"{' and '.join(TAKES_BUDGET)}, which need one, such as budget=0.2 or budget=5."
            )
        if (self.like is not None) != (self.mode == "same_length"):
            raise BadSetting(
                "selection='same_length' takes its lengths from extractions of the same texts: give them as like=, "
                "and give like= to no other selection."
            )
        if self.budget is not None:
            check_budget(self.budget)
        if self.within is not None:
            between("within", self.within, 0, 1)
            if self.mode != ENOUGH:
                raise BadSetting(f"within= belongs to selection={ENOUGH!r}; {self.mode!r} came.")

    def lengths(self, index: int, segment: int, n_words: int) -> list[int]:
        """How many words each span of a text is to have; empty where the mode needs no lengths."""
        if self.like is not None:
            return self.like[index].lengths(segment)
        if self.budget is None:
            return []
        count = self.budget if isinstance(self.budget, Integral) else top_count(n_words, self.budget)
        return shared_out(min(int(count), n_words), self.n_spans)

    def by_words(self, scores: np.ndarray, index: int, segment: int, contents: Sequence[str]) -> list[range]:
        """The selected ranges of one text's words, in reading order. scores: [word]. contents: what each word is."""
        lengths = self.lengths(index, segment, len(scores))
        return BY_WORDS[self.mode](scores, lengths, self.n_spans, drawn_numbers(contents)[0])


def check_budget(budget: Budget) -> None:
    """Raise `BadSetting` unless a budget is a share up to 1, or a number of words."""
    if isinstance(budget, bool) or not isinstance(budget, Real):
        raise BadSetting(f"budget={quoted(budget)} is no number; give a share such as 0.2, or words such as 5.")
    if isinstance(budget, Integral):
        at_least("budget", int(budget), 1)
    elif not 0 < budget <= 1:
        raise BadSetting(f"budget={budget} is no share of a text; give more than 0 and up to 1.0, or a whole number.")


# What an extractor gets, a request, and what it gives for each example: the spans that the request's selections
# select.

AT_ONCE = 64  # texts that are in memory together: the span scores of a document of 1,000 words take 10 MB


@dataclass(frozen=True)
class SelectedSpans:
    """One example, its words without special tokens, and for each selection its spans in reading order."""

    example: Example
    words: Units
    spans: list[list[Scored]]


@dataclass(frozen=True)
class SegmentWords:
    """The words of one segment (one text) of an example. index: the example's, in the request."""

    example: Example
    index: int
    segment: int
    words: Units

    def span(self, word_range: range, score: float) -> Scored:
        """Neighbouring words of the segment as a span."""
        start, end = self.words.start[word_range.start], self.words.end[word_range.stop - 1]
        return Scored(self.example.segments[self.segment][start:end], score, self.segment, start, end)


DrawRanges = Callable[[SegmentWords, Selection, torch.Generator], list[range]]


@dataclass(frozen=True)
class ExtractionRequest:
    """One call of an extractor. It reads some texts at a time, so that memory does not grow with their number.

    selections: an extractor gives spans for each of them, by the same scores, which are computed once.
    """

    model: Model
    examples: Sequence[Example]
    selections: Sequence[Selection]
    seed: int = 0
    progress: Progress = field(default=silent, repr=False)

    def select_by_method(
        self, method: str, target: TargetName = "predicted", output: Output = "logit", **settings: object
    ) -> Iterator[SelectedSpans]:
        """For each example the spans that the selections select by an attribution method's scores."""
        for index, explanation in enumerate(self.explain(method, Target(target, output), **settings)):
            yield self.select(index, explanation)

    def explain(self, method: str, target: Target, **settings: object) -> Iterator[Explanation]:
        """Each example's explanation by an attribution method, in order."""
        calls = method_calls([(method, settings)], self.model)
        request = Request(self.model, calls, target, self.seed)
        for _, batch in self._batches():
            yield from explain_batch(request, batch, scheduler_for(self.model), silent)[calls[0].title]

    def select(self, index: int, explanation: Explanation) -> SelectedSpans:
        """The spans that each selection selects of example `index` by the scores of this explanation."""
        if explanation.rows:
            kinds = ", ".join(kind for kind, _ in explanation.rows)
            raise BadSetting(
                f"{explanation.method} gives several rows of scores ({kinds}); choose a method of one row."
            )
        words = explanation.view("word")
        spans = [
            _top_spans(explanation, selection.n_spans)
            if selection.mode == BY_SPANS
            else self._enough(selection, words)
            if selection.mode == ENOUGH
            else _by_words(selection, index, words)
            for selection in self.selections
        ]
        units = words.units
        assert isinstance(units, Units)
        return SelectedSpans(explanation.example, units.take(units.content), spans)

    def _enough(self, selection: Selection, explanation: Explanation) -> list[Scored]:
        """The best words with which the model, reading nothing else, answers as for the whole text; neighbours make one
        span. The best word of each text of a pair is always among them.
        """
        if self.model.problem == "regression" or WRITING in self.model.capabilities:
            raise BadSetting(
                f"selection={ENOUGH!r} adds words until the model gives the class of the whole text, and "
                f"{self.model.name} gives no class; choose another selection, such as 'max_sum_centred'."
            )
        assert isinstance(explanation.units, Units)
        batch = self.model.encode([explanation.example])
        pieces, segments = batch.pieces_of(0, "word"), _segments(explanation.example, 0, explanation.units)
        scores = explanation.scores[~explanation.special].astype(np.float64)
        order = _best_of_each_first(segments, scores)
        answers = partial(self._answers, batch)
        whole = np.array(explanation.prediction.probabilities)
        within = 1.0 if selection.within is None else selection.within

        def reached(tried: Mapping[int, range]) -> dict[int, np.ndarray]:
            rows = [only(batch, 0, pieces, order[:count]) for count in tried[0]]
            return {0: is_answer(answers(rows), whole, within) & (np.array(tried[0]) >= len(segments))}

        fewest = fewest_units({0: len(order)}, reached)[0] or len(order)
        selected, spans, first = set(order[:fewest]), list[Scored](), 0
        for segment in segments:
            words = range(first, first + len(segment.words))
            for word_range in runs(np.array([word in selected for word in words])):
                of_range = scores[words.start + word_range.start : words.start + word_range.stop]
                spans.append(segment.span(word_range, float(of_range.mean())))
            first = words.stop
        return spans

    def _answers(self, batch: Batch, rows: Sequence[Row]) -> np.ndarray:
        """[row class]: the model's probabilities."""
        logits = evaluate_rows(self.model, scheduler_for(self.model), list(rows)).double()
        return class_probabilities(logits, self.model.problem).numpy()

    def draw(self, name: str, draw_ranges: DrawRanges) -> Iterator[SelectedSpans]:
        """For each example spans drawn at random, each segment by itself.

        draw_ranges: (segment, selection, generator) -> ranges of the segment's words. The generator is seeded from the
        example's content, the request's seed and `name`, the extractor's; every selection gets a fresh one.
        """
        for first, batch in self._batches():
            for index, (example, row) in enumerate(zip(batch.examples, batch.rows, strict=True)):
                words = coarsen(batch.units[index], "word", example.segments)[0]
                segments = _segments(example, first + index, words)
                spans = []
                for selection in self.selections:
                    generator = generator_for(row, name, self.seed)
                    drawn = [
                        (segment, word_range)
                        for segment in segments
                        for word_range in draw_ranges(segment, selection, generator)
                    ]
                    spans.append([segment_words.span(word_range, 0.0) for segment_words, word_range in drawn])
                yield SelectedSpans(example, words.take(words.content), spans)

    def _batches(self) -> Iterator[tuple[int, Batch]]:
        """The number of each batch's first example, and the batch; progress is reported after each."""
        for first in range(0, len(self.examples), AT_ONCE):
            batch = self.model.encode(self.examples[first : first + AT_ONCE])
            yield first, batch
            self.progress("extracting", first + len(batch), len(self.examples))


def _segments(example: Example, index: int, words: Units) -> list[SegmentWords]:
    """The words of each segment; a segment without words is left out."""
    return [
        SegmentWords(
            example,
            index,
            segment,
            words.take([n for n, of_segment in enumerate(words.segment) if of_segment == segment]),
        )
        for segment in sorted(set(words.segment) - {SPECIAL})
    ]


def _best_of_each_first(segments: Sequence[SegmentWords], scores: np.ndarray) -> list[int]:
    """All words by number, the best of each segment first, then by score; a draw from the words settles ties."""
    drawn = drawn_numbers([label for segment in segments for label in segment.words.labels])[0]
    order, first = _order(scores, drawn), 0
    best = []
    for segment in segments:
        best.append(next(word for word in order if first <= word < first + len(segment.words)))
        first += len(segment.words)
    return [*sorted(best, key=order.index), *(word for word in order if word not in best)]


def _by_words(selection: Selection, index: int, explanation: Explanation) -> list[Scored]:
    """The spans that a selection selects by the scores of words; a span's score is the mean of its words'."""
    units, spans = explanation.units, []
    assert isinstance(units, Units)
    for segment in _segments(explanation.example, index, units):
        scores = explanation.scores[np.array(units.segment) == segment.segment].astype(np.float64)
        for word_range in selection.by_words(scores, index, segment.segment, segment.words.labels):
            spans.append(segment.span(word_range, float(scores[word_range.start : word_range.stop].mean())))
    return spans


def _top_spans(explanation: Explanation, n_spans: int) -> list[Scored]:
    """The highest-scored spans of each text that do not overlap, in reading order; a draw from its parts settles
    ties.
    """
    spans = explanation.units
    if not isinstance(spans, Spans):
        raise BadSetting(
            f"{explanation.method} scores {spans.kind}s, not spans; choose another selection than {BY_SPANS!r}."
        )
    missing = dict.fromkeys(set(spans.parts.segment) - {SPECIAL}, n_spans)
    covered, top = np.zeros(len(spans.parts), dtype=bool), []
    for index in drawn_span_order(spans, explanation.scores).tolist():
        segment = spans.characters(index)[0]
        parts = slice(int(spans.first[index]), int(spans.last[index]) + 1)
        if missing[segment] and not covered[parts].any():
            top.append(explanation.scored(index))
            covered[parts] = True
            missing[segment] -= 1
        if not any(missing.values()):
            break
    return sorted(top, key=lambda span: (span.segment, span.start))
