"""How much each query of an attention looks at each key, before the softmax."""

import torch
from torch import Tensor


def attention_scores(
    query: Tensor,
    key: Tensor,
    mask: Tensor | None,
    is_causal: bool,
    scale: float | None,
    lowest: float | None,
) -> Tensor:
    """Scores [... query key] as scaled_dot_product_attention takes them from query and key [... piece width].

    mask: bool (True attends) or numbers to add. lowest: what a masked key gets: minus infinity, which gives nan where all
    keys are masked, or None for the lowest number there is, which spreads such a row's weight over all keys.
    """
    scores = query @ key.transpose(-1, -2) * (query.shape[-1] ** -0.5 if scale is None else scale)
    lowest = torch.finfo(scores.dtype).min if lowest is None else lowest
    if is_causal:
        later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(later, lowest)
    if mask is None:
        return scores
    return scores.masked_fill(~mask, lowest) if mask.dtype == torch.bool else scores + mask.clamp_min(lowest)


def shared_heads(query: Tensor, *states: Tensor) -> tuple[Tensor, ...]:
    """Keys and values [... head piece width], repeated where several of the query's heads share one of theirs."""
    return tuple(each.repeat_interleave(query.shape[-3] // each.shape[-3], -3) for each in states)
