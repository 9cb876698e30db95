"""What an extractor gets, a request, and what it gives for each example: the spans that the request's selections
select.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from pellucid.base.errors import BadSetting
from pellucid.base.processes import Progress, silent
from pellucid.evidence.selection import BY_SPANS, Selection
from pellucid.results.explanation import Explanation, Scored
from pellucid.run.batch import Batch
from pellucid.run.blank import generator_for
from pellucid.run.explaining import Request, explain_batch, method_calls
from pellucid.run.model import Model
from pellucid.run.packing import scheduler_for
from pellucid.run.target import Output, Target, TargetName
from pellucid.text.example import Example
from pellucid.text.ranges import drawn_span_order
from pellucid.text.units import SPECIAL, Spans, Units, coarsen

AT_ONCE = 64  # texts that are in memory together: the span scores of a document of 1,000 words take 10 MB


@dataclass(frozen=True)
class SelectedSpans:
    """One example, its words without special tokens, and for each selection its spans in reading order."""

    example: Example
    words: Units
    spans: list[list[Scored]]


@dataclass(frozen=True)
class SegmentWords:
    """The words of one segment (one text) of an example. number: the example's number in the request."""

    example: Example
    number: int
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
        for number, explanation in enumerate(self.explain(method, Target(target, output), **settings)):
            yield self.select(number, explanation)

    def explain(self, method: str, target: Target, **settings: object) -> Iterator[Explanation]:
        """Each example's explanation by an attribution method, in order."""
        calls = method_calls([(method, settings)], self.model)
        request = Request(self.model, calls, target, self.seed)
        for _, batch in self._batches():
            yield from explain_batch(request, batch, scheduler_for(self.model), silent)[calls[0].title]

    def select(self, number: int, explanation: Explanation) -> SelectedSpans:
        """The spans that each selection selects of example `number` by the scores of this explanation."""
        if explanation.rows:
            kinds = ", ".join(kind for kind, _ in explanation.rows)
            raise BadSetting(
                f"{explanation.method} gives several rows of scores ({kinds}); choose a method of one row."
            )
        words = explanation.view("word")
        spans = [
            _top_spans(explanation, selection.n_spans)
            if selection.mode == BY_SPANS
            else _by_words(selection, number, words)
            for selection in self.selections
        ]
        units = words.units
        assert isinstance(units, Units)
        return SelectedSpans(explanation.example, units.take(units.content), spans)

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
                        (one, word_range) for one in segments for word_range in draw_ranges(one, selection, generator)
                    ]
                    spans.append([one.span(word_range, 0.0) for one, word_range in drawn])
                yield SelectedSpans(example, words.take(words.content), spans)

    def _batches(self) -> Iterator[tuple[int, Batch]]:
        """The number of each batch's first example, and the batch; progress is reported after each."""
        for first in range(0, len(self.examples), AT_ONCE):
            batch = self.model.encode(self.examples[first : first + AT_ONCE])
            yield first, batch
            self.progress("extracting", first + len(batch), len(self.examples))


def _segments(example: Example, number: int, words: Units) -> list[SegmentWords]:
    """The words of each segment; a segment without words is left out."""
    return [
        SegmentWords(example, number, segment, words.take([n for n, of in enumerate(words.segment) if of == segment]))
        for segment in sorted(set(words.segment) - {SPECIAL})
    ]


def _by_words(selection: Selection, number: int, explanation: Explanation) -> list[Scored]:
    """The spans that a selection selects by the scores of words; a span's score is the mean of its words'."""
    units, spans = explanation.units, []
    assert isinstance(units, Units)
    for one in _segments(explanation.example, number, units):
        scores = explanation.scores[np.array(units.segment) == one.segment].astype(np.float64)
        for word_range in selection.by_words(scores, number, one.segment, one.words.labels):
            spans.append(one.span(word_range, float(scores[word_range.start : word_range.stop].mean())))
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
