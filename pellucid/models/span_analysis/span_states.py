"""The last layers of a self-explaining model on one text: its span vectors, their weights, and the head.

Vectors are computed when they are needed, some spans at a time, so that spans x width numbers are never in memory at once.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from pellucid.base.errors import ModelCannot
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.composed.composed_network import PoolingNetwork
from pellucid.models.pooling.pooler import Pooled
from pellucid.models.pooling.span_attention import SpanVectors, WithSpanVectors
from pellucid.run.batch import Row
from pellucid.run.model import Model
from pellucid.run.module_hooks import hook_output
from pellucid.run.rounding import tolerance

ROUNDING = 1e-3  # of the logits' size, in float32
AT_ONCE = 2**20  # numbers of span vectors that are computed together


@dataclass(frozen=True)
class SpanStates:
    """One text: vectors, a function of first and last parts; pooled [width]; weights [part part]; weighed [part part], which of
    them are legal spans. unit: the kind of unit that a part is.

    score [width]: a span's score is its product with the vector, up to a constant. head [class width], bias [class].
    All numbers in float64, on the CPU. rounding: how far the model's own logits may differ from these, relative to their
    size.
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
    """The last layers' states on one text that the model reads at once; raises `ModelCannot` for models without spans."""
    network = model.network if isinstance(model, Classifier) else None
    if not isinstance(network, PoolingNetwork) or not isinstance(network.pooler, WithSpanVectors):
        raise ModelCannot(
            f"{model.name} has no span attention to look into; give a model trained with pooler='span'."
        )
    if getattr(network.pooler, "of", "all") == "each":
        raise ModelCannot(
            f"{model.name} weighs the spans of each text by themselves (of='each'), and the analysis is of one sum over all spans; give "
            "a model with of='all' or of='second'."
        )
    seen = list[tuple[tuple, Pooled]]()
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
def _recorded(pooler: nn.Module, seen: list[tuple[tuple, Pooled]]) -> Iterator[None]:
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
