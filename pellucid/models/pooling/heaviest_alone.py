"""An answer by the heaviest spans alone: the weights of all others are 0, so that all that was read can be shown.

No two of them share a word: beside the heaviest span the next heaviest one is mostly the same with one word more or less, which says
nothing new. Which spans are the heaviest has no gradient; their weights are a softmax over them, and learn. A span that others are
heavier than can come back when their scores fall.
"""

from collections.abc import Callable

import torch
from torch import Tensor

VectorsOf = Callable[[Tensor, Tensor], Tensor]  # first parts, last parts [batch span] -> [batch span width]


def attend_to_heaviest(
    scores: Tensor, count: int, vectors_of: VectorsOf, u: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """As `span_attention_scores`, of the `count` spans with the highest scores in each text that share no part; fewer where there are fewer.

    scores: [batch part part], -inf where there is no legal span; they only choose. u: [width], a span's score is its product with
    the vector. The scores that are returned are -inf at all other spans.
    """
    numbers, illegal = heaviest_apart(scores.detach(), count)
    parts = scores.shape[-1]
    vectors = vectors_of(numbers // parts, numbers % parts)
    own = torch.matmul(vectors, u)
    lowest = own.masked_fill(illegal, torch.finfo(own.dtype).min)
    weights = lowest.softmax(-1).masked_fill(illegal, 0.0)  # a text without any legal span pools to 0
    pooled = torch.matmul(weights[:, None], vectors)[:, 0]
    # Sums, since where there is no span its number is that of the first one.
    nothing = own.new_zeros(len(scores), parts * parts)
    is_read = nothing.scatter_add(1, numbers, (~illegal).to(own)) > 0
    shown = nothing.scatter_add(1, numbers, own.masked_fill(illegal, 0.0)).masked_fill(~is_read, -torch.inf)
    return shown.view_as(scores), pooled, shown.logsumexp(-1)


def heaviest_apart(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """[batch span] numbers, first part x parts + last part, of the heaviest spans that share no part, the heaviest first; and bool, where
    there was none left, with the number 0.
    """
    scores, parts = scores.clone(), scores.shape[-1]
    places = torch.arange(parts, device=scores.device)
    numbers, nothing = [], []
    for _ in range(min(count, parts)):
        highest = scores.flatten(1).max(1)
        empty = highest.values.isneginf()
        number = highest.indices.masked_fill(empty, 0)
        # [batch part]: the parts that lie before the span, and after it.
        before, after = places < (number // parts)[:, None], places > (number % parts)[:, None]
        # A span lies apart from it where its last part lies before it, or its first one after it.
        scores.masked_fill_(~(before[:, None, :] | after[:, :, None]), -torch.inf)
        numbers.append(number)
        nothing.append(empty)
    return torch.stack(numbers, 1), torch.stack(nothing, 1)


def at_parts(values: Tensor, numbers: Tensor) -> Tensor:
    """[batch part width] at [batch span] numbers -> [batch span width]."""
    return values.gather(1, numbers[..., None].expand(-1, -1, values.shape[-1]))
