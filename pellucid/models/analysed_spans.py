"""The last layers of a self-explaining model on one text: its span vectors, their weights, and the head.

Vectors are computed when they are needed, some spans at a time, so that spans x width numbers are never in memory at
once.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pellucid.base.checks import quoted
from pellucid.base.errors import BadInput, ModelCannot, ParityBroken
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.composed.networks import PoolingNetwork
from pellucid.models.pooling.pooler import Pooled
from pellucid.models.pooling.span_attention import SpanVectors, WithSpanVectors
from pellucid.results.explanation import Explanation, Scored
from pellucid.results.heaviest_spans import texts_with_spans
from pellucid.results.span_analysis import AnalysedSpan, Answer, SpanAnalysis
from pellucid.run.batch import Batch, Row
from pellucid.run.blank import generator_for
from pellucid.run.model import Model
from pellucid.run.module_hooks import hook_output
from pellucid.run.read_alone import only, others_alike, without
from pellucid.run.rounding import tolerance
from pellucid.run.scheduler import Scheduler, evaluate_rows
from pellucid.run.target import ResolvedTarget, class_logits, class_probabilities, difference
from pellucid.text.units import Spans

ROUNDING = 1e-3  # of the logits' size, in float32
AT_ONCE = 2**20  # numbers of span vectors that are computed together


@dataclass(frozen=True)
class SpanStates:
    """One text: vectors, a function of first and last parts; pooled [width]; weights [part part]; weighed [part part],
    which of them are legal spans. unit: the kind of unit that a part is.

    score [width]: a span's score is its product with the vector, up to a constant. head [class width], bias [class].
    All numbers in float64, on the CPU. rounding: how far the model's own logits may differ from these, relative to
    their size.
    """

    vectors: SpanVectors
    pooled: Tensor
    weights: Tensor
    score: Tensor
    head: Tensor
    bias: Tensor
    rounding: float
    weighed: Tensor
    unit: str

    def some_at_a_time(self, first: Tensor, last: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """(weights [span], vectors [span width], numbers [span]) of the spans, at most `AT_ONCE` numbers at a time."""
        size = max(1, AT_ONCE // len(self.pooled))
        for numbers in torch.arange(len(first)).split(size):
            some = first[numbers], last[numbers]
            yield self.weights[some], self.vectors(*some).double().cpu(), numbers

    def own_logits(self, vectors: Tensor) -> Tensor:
        """[span width] -> [span class]: the head's logits for each vector."""
        return vectors @ self.head.T + self.bias


def span_states(model: Model, row: Row) -> SpanStates:
    """The last layers' states on one text that the model reads at once; raises `ModelCannot` for models without
    spans.
    """
    network = model.network if isinstance(model, Classifier) else None
    if not isinstance(network, PoolingNetwork) or not isinstance(network.pooler, WithSpanVectors):
        raise ModelCannot(f"{model.name} has no span attention to look into; give a model trained with pooler='span'.")
    if getattr(network.pooler, "of", "all") == "each":
        raise ModelCannot(
            f"{model.name} weighs the spans of each text by themselves (of='each'), and the analysis is of one sum "
            f"over all spans; give a model with of='all' or of='second'."
        )
    seen = list[tuple[tuple[Any, ...], Pooled]]()
    pooler: Any = network.pooler  # Any: a module that is WithSpanVectors
    with torch.no_grad(), _recorded(pooler, seen):
        model.trace([row])
        (states, pieces), pooled = seen[0]
        assert pooled.spans is not None  # it has span vectors
        weighed, unit = (pooled.spans.scores[0] != -torch.inf).cpu(), pooled.spans.unit
        vectors = pooler.vectors(states, pieces)
        score = pooler.score_vector
    tensors = (pooled.vector[0], pooled.spans.weights[0], score, network.head.weight, network.head.bias)
    rounding = max(ROUNDING, tolerance(model, network.head.weight.dtype))
    vector, weights, score, head, bias = (tensor.detach().double().cpu() for tensor in tensors)
    return SpanStates(_without_graph(vectors), vector, weights, score, head, bias, rounding, weighed, unit)


@contextmanager
def _recorded(pooler: nn.Module, seen: list[tuple[tuple[Any, ...], Pooled]]) -> Iterator[None]:
    """Append what the pooler reads and returns to seen."""
    remove = hook_output(pooler, lambda _, inputs, output: seen.append((inputs, output)))
    try:
        yield
    finally:
        remove()


def _without_graph(vectors: SpanVectors) -> SpanVectors:
    def compute(first: Tensor, last: Tensor) -> Tensor:
        with torch.no_grad():
            return vectors(first, last)

    return compute


# The analysis of one text's heaviest spans: by the model's last layers, and by running the model on the spans alone.

# How one span moves the prediction of a self-explaining model: by itself, by its vector, and by being there.
#
# Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", equation 5, in full (corrections.md A0.5): with
# h~ = sum of alpha_m h_m, and scores u . h_m, d h~ / d h_m = alpha_m [I + (h_m - h~) u^T].


@dataclass(frozen=True)
class Influence:
    """Numbers of some spans, [span] each, as in `core.results.span_analysis.AnalysedSpan`.

    logits: [span class], the head's logits of each span vector.
    """

    weights: Tensor
    logits: Tensor
    values: Tensor
    removals: Tensor
    gradient_norms: Tensor
    direct: Tensor
    by_weights: Tensor


def influence(states: SpanStates, target: ResolvedTarget, first: Tensor, last: Tensor) -> Influence:
    """The influence of the spans with these first and last parts on a logit, or on a difference of two.

    The logit is U_c . h~ + b_c, so its gradient by h_m is alpha_m [U_c + (U_c . (h_m - h~)) u], and U_c . (h_m - h~) is
    what the span's own logit has over the text's. Without span m, h~ is (h~ - alpha_m h_m) / (1 - alpha_m).
    """
    weights, vectors, _ = next(states.some_at_a_time(first, last))
    logits = states.own_logits(vectors)
    values = target.values_of(0, logits)
    over = values - target.values_of(0, states.own_logits(states.pooled[None]))
    direction = _direction(states.head, target)
    gradient = weights[:, None] * (direction + over[:, None] * states.score)
    return Influence(
        weights,
        logits,
        values,
        torch.where(weights < 1, weights * over / (1 - weights), torch.nan),
        gradient.norm(dim=-1),
        weights * direction.norm(),
        weights * over * states.score.norm(),
    )


def _direction(head: Tensor, target: ResolvedTarget) -> Tensor:
    """[width]: the explained number's gradient by the pooled vector."""
    rows = class_logits(head.T, target.problem).T
    class_row = rows[target.classes[0]]
    return class_row if target.against is None else difference(class_row, rows[target.against[0]], target.problem)


def own_votes(states: SpanStates, first: Tensor, last: Tensor, logits: Tensor) -> tuple[Tensor, float]:
    """(weight [class] of the spans whose own highest logit is that class, identity gap) over all spans of a text.

    The head is linear and the weights sum to 1, so the weighted own logits sum to the logits [class]; the gap is the
    largest difference, and `ParityBroken` is raised where it is more than rounding.
    """
    votes, total = torch.zeros_like(logits), torch.zeros_like(logits)
    for weights, vectors, _ in states.some_at_a_time(first, last):
        span_logits = states.own_logits(vectors)
        votes.index_add_(0, span_logits.argmax(-1), weights)
        total += weights @ span_logits
    gap = float((total - logits).abs().max())
    if not gap <= states.rounding * max(1.0, float(logits.abs().max())):
        raise ParityBroken(
            f"The weighted logits of all spans differ from the model's by {gap:.2g}; its spans cannot be analysed. "
            "Please report this with the model."
        )
    return votes, gap


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
        _span(explanation.scored(index), moves, position, reader, range(first, last + 1))
        for position, (index, first, last) in enumerate(zip(heaviest, *map(torch.Tensor.tolist, ends), strict=True))
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
            *(only(self.batch, 0, pieces, random_span) for random_span in others),
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
            Answer(self.model.labels[class_index], chance) for class_index, chance in zip(best, chances, strict=True)
        ]


def _target(explanation: Explanation, model: Model) -> ResolvedTarget:
    labels, target = list(model.labels), explanation.target
    against = None if target.against is None else (labels.index(target.against),)
    return ResolvedTarget((labels.index(target.label),), against, "logit", model.problem)


def _ends(units: Spans) -> tuple[Tensor, Tensor]:
    """First and last parts of all spans, counted as the model counts: without special tokens."""
    content_index = np.full(len(units.parts), -1)
    content_index[list(units.parts.content)] = np.arange(len(units.parts.content))
    return torch.from_numpy(content_index[units.first]), torch.from_numpy(content_index[units.last])


def _counts(states: SpanStates) -> tuple[float, float]:
    """1 / sum of alpha squared, and exp(entropy)."""
    weights = states.weights[states.weights > 0]
    return float(1 / weights.square().sum()), float((-(weights * weights.log()).sum()).exp())


def _span(scored: Scored, moves: Influence, position: int, reader: _Reader, units: range) -> AnalysedSpan:
    alone, rest, *random = reader.answers(reader.logits(units))
    label = reader.explanation.prediction.label
    return AnalysedSpan(
        text=scored.text,
        segment=scored.segment,
        start=scored.start,
        end=scored.end,
        weight=float(moves.weights[position]),
        own=reader.answers(moves.logits[position : position + 1])[0],
        own_value=float(moves.values[position]),
        removal=float(moves.removals[position]),
        gradient_norm=float(moves.gradient_norms[position]),
        gradient_direct=float(moves.direct[position]),
        gradient_by_weights=float(moves.by_weights[position]),
        alone=alone,
        without=rest,
        random_agrees=_mean([answer.label == label for answer in random]),
        random_probability=_mean([answer.probability for answer in random]),
        outside=reader.outside(units),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


# How much of a span's vector comes from outside the span: how far it moves when the words outside are not read.


def outside_share(model: Model, states: SpanStates, span: range, alone: Row) -> float:
    """||t - t'|| / ||t||, with t the span's vector in its text and t' that of its words read alone; 0 or more.

    states: of the text. span: numbers of its first to last part. alone: the text's row with the parts of the span and
    no others. 0: the vector says nothing but the span's words. About 1.4: it has nothing to do with them, if both are
    equally long.
    """
    inside = _vector(states, span)
    alone_vector = _vector(span_states(model, alone), range(len(span)))
    return float((inside - alone_vector).norm() / inside.norm())


def _vector(states: SpanStates, span: range) -> Tensor:
    """[width]: the vector of one span."""
    first, last = torch.tensor([span.start]), torch.tensor([span.stop - 1])
    return states.vectors(first, last)[0].double().cpu()
