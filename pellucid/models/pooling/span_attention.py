"""Span attention as functions that a relevance policy can look into: the fast kernel, or the same in single steps.

Like torch's own functions they pass themselves to an active function mode. The mode can run their attribute `written_out`
instead, which computes all span vectors at once: units x units x width numbers a text.
"""

import torch
from torch import Tensor
from torch.overrides import handle_torch_function, has_torch_function

from pellucid.core.foundation.errors import ModelCannot, NotEnoughMemory
from pellucid.models.span_kernel.kernel import span_attention_scores, span_average
from pellucid.models.span_kernel.limits import SpanLimits, legal_spans

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
    """[batch unit unit width]: every t_ij. Raises for more numbers than a computer should hold: `ModelCannot` where one text has as many,
    `NotEnoughMemory`, upon which a pass takes fewer texts, where all texts together have.
    """
    batch, units, width = a.shape
    of_text = units**2 * width
    if batch * of_text > MOST_NUMBERS:
        kind = ModelCannot if of_text > MOST_NUMBERS else NotEnoughMemory
        raise kind(
            f"Relevance needs the vectors of all spans at once, {units} x {units} x {width} numbers a text; that is too "
            "much for so long a text. Use gradients, span_attention or occlusion."
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
    weights = lowest.softmax(-1).masked_fill(
        ~legal.flatten(1), 0.0
    )  # a text without any legal span pools to 0
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
