"""Which text of a pair spans may lie in: both, the second alone, or each with half of the weight."""

from typing import Literal

import torch
from torch import Tensor

from pellucid.core.text.units import SPECIAL

Of = Literal["all", "second", "each"]
Attended = tuple[Tensor, Tensor, Tensor]  # scores, pooled vectors and log-normalisers of span attention


def second_text(runs: Tensor, in_second: Tensor) -> Tensor:
    """[batch part]: the runs of the second texts, -1 in the first ones; those of single texts as they are.

    runs: as `merge_parts` gives them, of texts or of sentences. in_second: [batch part] bool, whether a part is of the second text.
    """
    pairs = in_second.any(1, keepdim=True)
    return runs.masked_fill(pairs & ~in_second, SPECIAL)


def joined(first: Attended, second: Attended) -> Attended:
    """Span attention in both texts of pairs as one: each has half of the weight, or all of it where the other has no spans.

    No span may be in both. Scores become log-weights, so the log-normaliser is 0; -inf where neither has spans.
    """
    has_spans = torch.stack([log_normaliser.isfinite() for _, _, log_normaliser in (first, second)])
    shares = has_spans / has_spans.sum(0).clamp_min(1)  # [text batch]
    one, other = (_log_weights(*each, share) for each, share in zip((first, second), shares, strict=True))
    scores = torch.where(first[0].isneginf(), other, one)
    pooled = (torch.stack([first[1], second[1]]) * shares[..., None].to(first[1])).sum(0)
    return scores, pooled, torch.where(has_spans.any(0), 0.0, -torch.inf).to(scores)


def _log_weights(scores: Tensor, _: Tensor, log_normaliser: Tensor, share: Tensor) -> Tensor:
    """[batch part part]: log of the weights of a text that has this share [batch] of the whole."""
    finite = log_normaliser.masked_fill(~log_normaliser.isfinite(), 0.0)  # -inf - -inf would be nan
    return scores + (share.log().to(finite) - finite)[:, None, None]
