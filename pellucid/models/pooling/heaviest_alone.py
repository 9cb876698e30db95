"""An answer by the heaviest spans alone: the weights of all others are 0, so that all that was read can be shown.

Which spans are the heaviest has no gradient; their weights are a softmax over them, and learn. A span that others are heavier than
can come back when their scores fall.
"""

from collections.abc import Callable

import torch
from torch import Tensor

VectorsOf = Callable[[Tensor, Tensor], Tensor]  # first parts, last parts [batch span] -> [batch span width]


def attend_to_heaviest(
    scores: Tensor, count: int, vectors_of: VectorsOf, u: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """As `span_attention_scores`, of the `count` spans with the highest scores in each text; fewer where there are fewer.

    scores: [batch part part], -inf where there is no legal span; they only choose. u: [width], a span's score is its product with
    the vector. The scores that are returned are -inf at all other spans.
    """
    flat, parts = scores.detach().flatten(1), scores.shape[-1]
    highest = flat.topk(min(count, flat.shape[1]), dim=1)
    vectors = vectors_of(highest.indices // parts, highest.indices % parts)
    illegal = highest.values.isneginf()
    own = torch.matmul(vectors, u)
    lowest = own.masked_fill(illegal, torch.finfo(own.dtype).min)
    weights = lowest.softmax(-1).masked_fill(illegal, 0.0)  # a text without any legal span pools to 0
    pooled = torch.matmul(weights[:, None], vectors)[:, 0]
    shown = torch.full_like(flat, -torch.inf).scatter(
        1, highest.indices, own.masked_fill(illegal, -torch.inf)
    )
    return shown.view_as(scores), pooled, shown.logsumexp(-1)


def at_parts(values: Tensor, numbers: Tensor) -> Tensor:
    """[batch part width] at [batch span] numbers -> [batch span width]."""
    return values.gather(1, numbers[..., None].expand(-1, -1, values.shape[-1]))
