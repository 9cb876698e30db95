"""Span attention as functions that a relevance policy can look into: the fast kernel, or the same in single steps.

Like torch's own functions they pass themselves to an active function mode. The mode can run their attribute
`written_out` instead, which computes all span vectors at once: units x units x width numbers a text.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu
from torch.overrides import handle_torch_function, has_torch_function

from pellucid.base.errors import BadInput, ModelCannot, NotEnoughMemory
from pellucid.models.pooling.pooler import PieceTensors
from pellucid.models.span_kernel.kernel import span_attention_scores, span_average
from pellucid.models.span_kernel.packs import SpanLimits, legal_spans

MOST_NUMBERS = 2**28  # a gigabyte in float32, and rules hold several


def attend_to_spans(
    a: Tensor,
    c: Tensor,
    p: Tensor,
    u: Tensor,
    limits: SpanLimits,
) -> tuple[Tensor, Tensor, Tensor]:
    """See `span_attention_scores`."""
    if has_torch_function((a, c, p, u)):
        return handle_torch_function(attend_to_spans, (a, c, p, u), a, c, p, u, limits)
    segments, max_width, latest_start = limits
    return span_attention_scores(a, c, p, u, segments, max_width=max_width, latest_start=latest_start)


def average_spans(
    a: Tensor,
    c: Tensor,
    p: Tensor,
    log_weights: Tensor,
    limits: SpanLimits,
) -> Tensor:
    """See `span_average`."""
    if has_torch_function((a, c, p)):
        return handle_torch_function(average_spans, (a, c, p), a, c, p, log_weights, limits)
    segments, max_width, latest_start = limits
    return span_average(a, c, p, log_weights, segments, max_width=max_width, latest_start=latest_start)


def _vectors(a: Tensor, c: Tensor, p: Tensor) -> Tensor:
    """[batch unit unit width]: every t_ij. Raises for more numbers than a computer should hold: `ModelCannot` where one
    text has as many, `NotEnoughMemory`, upon which a pass takes fewer texts, where all texts together have.
    """
    batch, units, width = a.shape
    of_text = units**2 * width
    if batch * of_text > MOST_NUMBERS:
        kind = ModelCannot if of_text > MOST_NUMBERS else NotEnoughMemory
        raise kind(
            f"Relevance needs the vectors of all spans at once, {units} x {units} x {width} numbers a text; that is "
            f"too much for so long a text. Use gradients, span_attention or occlusion."
        )
    return torch.tanh(a[:, :, None] + c[:, None] + p[:, :, None] * p[:, None])


def _attend_written_out(
    a: Tensor,
    c: Tensor,
    p: Tensor,
    u: Tensor,
    limits: SpanLimits,
) -> tuple[Tensor, Tensor, Tensor]:
    legal, vectors = legal_spans(*limits), _vectors(a, c, p)
    scores = torch.matmul(vectors, u)
    lowest = scores.masked_fill(~legal, torch.finfo(scores.dtype).min).flatten(1)
    weights = lowest.softmax(-1).masked_fill(~legal.flatten(1), 0.0)  # a text without any legal span pools to 0
    pooled = torch.matmul(weights[:, None], vectors.flatten(1, 2))[:, 0]
    shown = scores.detach().masked_fill(~legal, float("-inf"))
    return shown, pooled, shown.flatten(1).logsumexp(-1)


def _average_written_out(
    a: Tensor,
    c: Tensor,
    p: Tensor,
    log_weights: Tensor,
    limits: SpanLimits,
) -> Tensor:
    legal = legal_spans(*limits)
    weights = log_weights.exp().masked_fill(~legal, 0.0).flatten(1)
    return torch.matmul(weights[:, None], _vectors(a, c, p).flatten(1, 2))[:, 0]


attend_to_spans.written_out = _attend_written_out  # type: ignore[attr-defined]
average_spans.written_out = _average_written_out  # type: ignore[attr-defined]


# What a pooler must offer beyond its weights so that its spans can be analysed one by one.

SpanVectors = Callable[[Tensor, Tensor], Tensor]  # first units [span], last units [span] -> [span width]


@runtime_checkable
class WithSpanVectors(Protocol):
    """A pooler whose span vectors and scores can be read; `SpanPooler` is one."""

    @property
    def score_vector(self) -> Tensor:
        """[width]: a span's score is its vector's product with it, up to a constant."""
        ...

    def vectors(self, states: Tensor, pieces: PieceTensors) -> SpanVectors:
        """For one text [1 piece width]: a function that computes the vectors of some spans."""
        ...


# Span attention with every span vector in memory at once, and the two forms of span vectors that need it; for short
# texts.
#
# Sun et al. (2020), "Self-Explaining Structures Improve NLP Models": equation 1, which leaves the network open, and
# equation 6 before its product is split into two square roots, which is true only of some matrices (corrections.md
# A0.4).

MOST_UNITS = 128  # of a text: at width 384 its span vectors are 25 MB, and several times that in training


class FeedForward(nn.Module):
    """Equation 1 with h_ij = tanh((h_i + h_j) / 2 + W gelu(L h_i + R h_j)): a hidden layer as wide as the vector.

    [L R] is one matrix applied to [h_i, h_j]. The mean is added so that training starts where the factored form
    starts, from the encoder's features.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.left = nn.Linear(width, width)
        self.right = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(width, width)
        nn.init.normal_(self.out.weight, std=0.02)
        nn.init.zeros_(self.out.bias)

    def forward(self, parts: Tensor) -> Tensor:
        """[batch unit width] -> [batch unit unit width]"""
        hidden = gelu(self.left(parts)[:, :, None] + self.right(parts)[:, None])
        return torch.tanh((parts[:, :, None] + parts[:, None]) / 2 + self.out(hidden))

    def of_pairs(self, first: Tensor, last: Tensor) -> Tensor:
        """[span width] of the units that spans begin and end with -> [span width]"""
        hidden = gelu(self.left(first) + self.right(last))
        return torch.tanh((first + last) / 2 + self.out(hidden))


def exact_vectors(begin: Tensor, end: Tensor, parts: Tensor, product: nn.Linear) -> Tensor:
    """Equation 6 with the product W4 (h_i * h_j): [batch unit unit width] from [batch unit width] each.

    begin, end: W1 h_i and W2 h_j, each with its part of W3. product: W4.
    units x units x width x width multiplications, where the factored form needs units x width x width.
    """
    products = product(parts[:, :, None] * parts[:, None])
    return torch.tanh(begin[:, :, None] + end[:, None] + products)


def check_size(units: int, interaction: str) -> None:
    """Raise `BadInput` where there would be too many span vectors for the memory."""
    if units > MOST_UNITS:
        raise BadInput(
            f"interaction={interaction!r} holds every span vector at once and takes at most {MOST_UNITS} units a "
            f"text. Got {units}; give shorter texts, or train with interaction='factored'."
        )


def attend_to_vectors(vectors: Tensor, u: Tensor, limits: SpanLimits) -> tuple[Tensor, Tensor, Tensor]:
    """As `span_attention_scores`, of span vectors [batch, unit, unit, width]."""
    illegal = ~legal_spans(*limits)
    scores = torch.matmul(vectors, u)
    lowest = scores.masked_fill(illegal, torch.finfo(scores.dtype).min).flatten(1)
    weights = lowest.softmax(-1).masked_fill(illegal.flatten(1), 0.0)
    pooled = torch.matmul(weights[:, None], vectors.flatten(1, 2))[:, 0]
    shown = scores.masked_fill(illegal, -torch.inf)
    return shown, pooled, shown.flatten(1).logsumexp(-1)


def average_vectors(vectors: Tensor, log_weights: Tensor, limits: SpanLimits) -> Tensor:
    """As `span_average`, of span vectors [batch, unit, unit, width]."""
    illegal = ~legal_spans(*limits)
    weights = log_weights.exp().masked_fill(illegal, 0.0).flatten(1)
    return torch.matmul(weights[:, None], vectors.flatten(1, 2))[:, 0]


# The first steps of a training, in which the answer uses all spans: the heaviest ones mean nothing yet, and the
# others would not learn.


@contextmanager
def all_spans_weigh(pooler: Any) -> Iterator[None]:
    """Inside, a pooler that uses the heaviest spans alone uses all; other poolers stay as they are."""
    count = getattr(pooler, "n_heaviest", None)
    if count is None:
        yield
        return
    pooler.n_heaviest = None
    try:
        yield
    finally:
        pooler.n_heaviest = count
