"""The analysis of one text's heaviest spans: by the model's last layers, and by running the model on the spans alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.wording import quoted
from pellucid.core.passes.batch import Batch
from pellucid.core.passes.edited_rows import evaluate_rows
from pellucid.core.passes.model import Model
from pellucid.core.passes.scheduler import Scheduler
from pellucid.core.passes.seeds import generator_for
from pellucid.core.passes.target import ResolvedTarget, class_logits, class_probabilities
from pellucid.core.results.explanation import Explanation, Scored
from pellucid.core.results.heaviest_spans import texts_with_spans
from pellucid.core.results.span_analysis import AnalysedSpan, Answer, SpanAnalysis
from pellucid.core.spans.read_alone import only, others_alike, without
from pellucid.core.text.units import Spans
from pellucid.models.span_analysis.outside_share import outside_share
from pellucid.models.span_analysis.span_influence import Influence, influence, own_votes
from pellucid.models.span_analysis.span_states import SpanStates, span_states


def analysed(
    model: Model, batch: Batch, explanation: Explanation, scheduler: Scheduler, *, k: int, draws: int
) -> SpanAnalysis:
    """Analyse the k heaviest spans that do not overlap of one text, a batch of one example with its span weights.

    draws: the most random spans of each one's length that are read alone. Raises `ModelCannot` for a model without span
    attention, `BadInput` for a text longer than the model reads at once.
    """
    row, units = batch.rows[0], explanation.units
    assert isinstance(units, Spans)  # span_attention's
    if row.windows:
        raise BadInput(
            f"Example {quoted(explanation.example.id)} is longer than {model.name} reads at once, and spans of several "
            "windows have no common weights; give its parts one by one."
        )
    states, target = span_states(model, row), _target(explanation, model)
    heaviest = explanation.heaviest_spans(k)
    ends = tuple(every[heaviest] for every in _ends(units))
    moves = influence(states, target, *ends)
    votes, gap = own_votes(states, *_ends(units), torch.tensor(explanation.prediction.logits).double())
    reader = _Reader(model, batch, explanation, scheduler, draws, target.classes[0], states)
    spans = [
        _span(explanation.scored(index), moves, number, reader, range(first, last + 1))
        for number, (index, first, last) in enumerate(
            zip(heaviest, *map(torch.Tensor.tolist, ends), strict=True)
        )
    ]
    label = model.labels.index(explanation.prediction.label)
    return SpanAnalysis(explanation, tuple(spans), *_counts(states), float(votes[label]), gap)


@dataclass(frozen=True)
class _Reader:
    """The model on parts of one text. draws: the most random spans. explained: the class whose probability is recorded.

    states: of the whole text.
    """

    model: Model
    batch: Batch
    explanation: Explanation
    scheduler: Scheduler
    draws: int
    explained: int
    states: SpanStates

    def logits(self, span: range) -> Tensor:
        """[row logit]: of a span alone, of the text without it, and of random spans as long."""
        parts = self.explanation.units.parts  # type: ignore[union-attr]
        pieces = self.batch.pieces_of(0, parts.kind)  # type: ignore[arg-type]
        generator = generator_for(self.batch.rows[0], "read_alone", self.explanation.seed)
        others = others_alike(span, texts_with_spans(self.explanation.units), self.draws, generator)  # type: ignore[arg-type]
        rows = [
            only(self.batch, 0, pieces, span),
            without(self.batch, 0, pieces, span),
            *(only(self.batch, 0, pieces, other) for other in others),
        ]
        return evaluate_rows(self.model, self.scheduler, rows).double()

    def outside(self, span: range) -> float:
        """How far the span's vector moves when it is read alone."""
        pieces = self.batch.pieces_of(0, self.states.unit)  # type: ignore[arg-type]
        return outside_share(self.model, self.states, span, only(self.batch, 0, pieces, span))

    def answers(self, logits: Tensor) -> list[Answer]:
        """[row logit] -> each row's class and the explained class's probability."""
        best = class_logits(logits, self.model.problem).argmax(-1).tolist()
        chances = class_probabilities(logits, self.model.problem)[:, self.explained].tolist()
        return [
            Answer(self.model.labels[number], chance) for number, chance in zip(best, chances, strict=True)
        ]


def _target(explanation: Explanation, model: Model) -> ResolvedTarget:
    labels, target = list(model.labels), explanation.target
    against = None if target.against is None else (labels.index(target.against),)
    return ResolvedTarget((labels.index(target.label),), against, "logit", model.problem)


def _ends(units: Spans) -> tuple[Tensor, Tensor]:
    """First and last parts of all spans, counted as the model counts: without special tokens."""
    number = np.full(len(units.parts), -1)
    number[list(units.parts.content)] = np.arange(len(units.parts.content))
    return torch.from_numpy(number[units.first]), torch.from_numpy(number[units.last])


def _counts(states: SpanStates) -> tuple[float, float]:
    """1 / sum of alpha squared, and exp(entropy)."""
    weights = states.weights[states.weights > 0]
    return float(1 / weights.square().sum()), float((-(weights * weights.log()).sum()).exp())


def _span(scored: Scored, moves: Influence, number: int, reader: _Reader, units: range) -> AnalysedSpan:
    alone, rest, *random = reader.answers(reader.logits(units))
    label = reader.explanation.prediction.label
    return AnalysedSpan(
        text=scored.text,
        segment=scored.segment,
        start=scored.start,
        end=scored.end,
        weight=float(moves.weights[number]),
        own=reader.answers(moves.logits[number : number + 1])[0],
        own_value=float(moves.values[number]),
        removal=float(moves.removals[number]),
        gradient_norm=float(moves.gradient_norms[number]),
        gradient_direct=float(moves.direct[number]),
        gradient_by_weights=float(moves.by_weights[number]),
        alone=alone,
        without=rest,
        random_agrees=_mean([answer.label == label for answer in random]),
        random_probability=_mean([answer.probability for answer in random]),
        outside=reader.outside(units),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")
