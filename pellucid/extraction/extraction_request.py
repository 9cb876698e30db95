"""What an extractor is asked: a model, examples and selections; and how it reads scores and chooses by them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch

from pellucid.core.explaining.explaining import Request, explain_batch, method_calls
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.progress import Progress, silent
from pellucid.core.passes.model import Model
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.passes.seeds import generator_for
from pellucid.core.passes.target import Output, Target, TargetName
from pellucid.core.results.explanation import Explanation, Scored
from pellucid.core.text.example import Example
from pellucid.core.text.units import SPECIAL, Spans, Units, coarsen
from pellucid.extraction.selection import BY_SPANS, Selection

AT_ONCE = 64  # texts whose scores are held together: the spans of a document of 1,000 words take 10 MB


@dataclass(frozen=True)
class SelectedSpans:
    """What was chosen of one example: its words (special tokens left out) and, for each selection, spans in reading order."""

    example: Example
    words: Units
    spans: list[list[Scored]]


@dataclass(frozen=True)
class ExtractionRequest:
    """One call of an extractor: scores are made for some texts at a time, so memory does not grow with their number.

    selections: what each of them chooses is wanted; the scores are made once for all.
    """

    model: Model
    examples: Sequence[Example]
    selections: Sequence[Selection]
    seed: int = 0
    progress: Progress = field(default=silent, repr=False)

    def select_by_method(
        self, method: str, target: TargetName = "predicted", output: Output = "logit", **settings: Any
    ) -> Iterator[SelectedSpans]:
        """For each example what the selections choose by an attribution method's scores."""
        for number, found in enumerate(self.explain(method, Target(target, output), **settings)):
            yield self.select(number, found)

    def explain(self, method: str, target: Target, **settings: Any) -> Iterator[Explanation]:
        """Each example's explanation, in order."""
        calls = method_calls([(method, settings)], self.model)
        request = Request(self.model, calls, target, self.seed)
        for first in range(0, len(self.examples), AT_ONCE):
            batch = self.model.encode(self.examples[first : first + AT_ONCE])
            found = explain_batch(request, batch, scheduler_for(self.model), silent)
            yield from found[calls[0].title]
            self.progress("extracting", first + len(batch), len(self.examples))

    def select(self, number: int, explanation: Explanation) -> SelectedSpans:
        """What each selection chooses of example `number` by these scores."""
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

    def seeded_texts(self, name: str) -> Iterator[tuple[int, Example, Units, Callable[[], torch.Generator]]]:
        """For each example its number, itself, its words and what gives a fresh generator seeded from its content."""
        for first in range(0, len(self.examples), AT_ONCE):
            batch = self.model.encode(self.examples[first : first + AT_ONCE])
            for place, (example, row) in enumerate(zip(batch.examples, batch.rows, strict=True)):
                words = coarsen(batch.units[place], "word", example.segments)[0]
                yield (
                    first + place,
                    example,
                    words.take(words.content),
                    partial(generator_for, row, name, self.seed),
                )
            self.progress("extracting", first + len(batch), len(self.examples))


def _by_words(selection: Selection, number: int, words: Explanation) -> list[Scored]:
    units, spans = words.units, []
    assert isinstance(units, Units)
    for segment in sorted(set(units.segment) - {SPECIAL}):
        inside = np.flatnonzero(np.array(units.segment) == segment)
        scores = words.scores[inside].astype(np.float64)
        for stretch in selection.by_words(scores, number, segment):
            mean = float(scores[stretch.start : stretch.stop].mean())
            spans.append(joined(words.example, units.take(inside.tolist()), stretch, mean))
    return spans


def joined(example: Example, words: Units, stretch: range, score: float) -> Scored:
    """Neighbouring words of one text as a span."""
    segment, start, end = (
        words.segment[stretch.start],
        words.start[stretch.start],
        words.end[stretch.stop - 1],
    )
    return Scored(example.segments[segment][start:end], score, segment, start, end)


def _top_spans(explanation: Explanation, n_spans: int) -> list[Scored]:
    """The highest-scored spans of each text that do not overlap, in reading order; ties go to the earlier start."""
    spans = explanation.units
    if not isinstance(spans, Spans):
        raise BadSetting(
            f"{explanation.method} scores {spans.kind}s, not spans; choose another selection than {BY_SPANS!r}."
        )
    left = dict.fromkeys(set(spans.parts.segment) - {SPECIAL}, n_spans)
    taken, chosen = np.zeros(len(spans.parts), dtype=bool), []
    for index in np.argsort(-explanation.scores, kind="stable").tolist():
        segment, part = (
            spans.characters(index)[0],
            slice(int(spans.first[index]), int(spans.last[index]) + 1),
        )
        if left[segment] and not taken[part].any():
            chosen.append(explanation.scored(index))
            taken[part], left[segment] = True, left[segment] - 1
        if not any(left.values()):
            break
    return sorted(chosen, key=lambda span: (span.segment, span.start))
