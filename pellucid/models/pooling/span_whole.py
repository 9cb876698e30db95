"""Span attention with every span vector in memory at once: for forms that cannot be streamed, on short texts."""

import torch
from torch import Tensor

from pellucid.core.foundation.errors import BadInput
from pellucid.models.span_kernel.limits import SpanLimits, legal_spans

MOST_UNITS = 128  # of a text: at width 384 its span vectors are 25 MB, and several times that in training


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
