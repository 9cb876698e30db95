"""Span attention with every span vector in memory at once, and the two forms of span vectors that need it; for short texts.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models": equation 1, which leaves the network open, and equation 6
before its product is split into two square roots, which is true only of some matrices (corrections.md A0.4).
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from pellucid.core.foundation.errors import BadInput
from pellucid.models.span_kernel.limits import SpanLimits, legal_spans

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
