"""An answer by the heaviest spans alone: the weights of all others are 0, so that all that was read can be shown.

No two of them share a word: beside the heaviest span the next heaviest one is mostly the same with one word more or
less, which says nothing new. Which spans are the heaviest has no gradient; their weights are a softmax over them, and
learn. A span that others are heavier than can come back when their scores fall.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

VectorsOf = Callable[[Tensor, Tensor], Tensor]  # first parts, last parts [batch span] -> [batch span width]


def attend_to_heaviest(scores: Tensor, count: int, vectors_of: VectorsOf, u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """As `span_attention_scores`, of the `count` spans with the highest scores in each text that share no part; fewer
    where there are fewer.

    scores: [batch part part], -inf where there is no legal span; they only choose. u: [width], a span's score is its
    product with the vector. The scores that are returned are -inf at all other spans.
    """
    numbers, illegal = heaviest_apart(scores.detach(), count)
    parts = scores.shape[-1]
    vectors = vectors_of(numbers // parts, numbers % parts)
    span_scores = torch.matmul(vectors, u)
    lowest = span_scores.masked_fill(illegal, torch.finfo(span_scores.dtype).min)
    weights = lowest.softmax(-1).masked_fill(illegal, 0.0)  # a text without any legal span pools to 0
    pooled = torch.matmul(weights[:, None], vectors)[:, 0]
    # Sums, since where there is no span its number is that of the first one.
    nothing = span_scores.new_zeros(len(scores), parts * parts)
    is_read = nothing.scatter_add(1, numbers, (~illegal).to(span_scores)) > 0
    shown = nothing.scatter_add(1, numbers, span_scores.masked_fill(illegal, 0.0)).masked_fill(~is_read, -torch.inf)
    return shown.view_as(scores), pooled, shown.logsumexp(-1)


def heaviest_apart(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """[batch span] numbers, first part x parts + last part, of the heaviest spans that share no part, the heaviest
    first; and bool, where there was none left, with the number 0.
    """
    scores, parts = scores.clone(), scores.shape[-1]
    places = torch.arange(parts, device=scores.device)
    numbers, nothing = [], []
    for _ in range(min(count, parts)):
        highest = scores.flatten(1).max(1)
        empty = highest.values.isneginf()
        span_number = highest.indices.masked_fill(empty, 0)
        # [batch part]: the parts that lie before the span, and after it.
        before, after = places < (span_number // parts)[:, None], places > (span_number % parts)[:, None]
        # A span lies apart from it where its last part lies before it, or its first one after it.
        scores.masked_fill_(~(before[:, None, :] | after[:, :, None]), -torch.inf)
        numbers.append(span_number)
        nothing.append(empty)
    return torch.stack(numbers, 1), torch.stack(nothing, 1)


def at_parts(values: Tensor, numbers: Tensor) -> Tensor:
    """[batch part width] at [batch span] numbers -> [batch span width]."""
    return values.gather(1, numbers[..., None].expand(-1, -1, values.shape[-1]))


# HardKuma: random numbers between 0 and 1 that are often exactly 0 or 1, and yet have gradients.
#
# Bastings, Aziz and Titov (2019), "Interpretable Neural Predictions with Differentiable Binary Variables", section 3:
# a Kumaraswamy variable k with density a b k^(a-1) (1 - k^a)^(b-1) is stretched to t = LOW + (HIGH - LOW) k and cut
# to [0, 1].

LOW, HIGH = -0.1, 1.1  # as in the paper's experiments
EDGE = 1e-6  # powers have no gradient at 0
SMALLEST_A, SMALLEST_B = 0.01, 0.2  # with these P(z > 0) can still be below 1/2


@dataclass(frozen=True)
class HardKuma:
    """One variable for each entry of a and b, both above 0."""

    a: Tensor
    b: Tensor

    @property
    def above_zero(self) -> Tensor:
        """P(z > 0), the expected L0 norm: 1 - F(k0), where k0 is stretched to 0."""
        return self._beyond(0.0)

    @property
    def at_one(self) -> Tensor:
        """P(z = 1) = 1 - F(k1), where k1 is stretched to 1."""
        return self._beyond(1.0)

    @property
    def median(self) -> Tensor:
        """In closed form: 0 where P(z = 0) >= 1/2, 1 where P(z = 1) >= 1/2, and between elsewhere."""
        return self.quantile(torch.full_like(self.a, 0.5))

    def quantile(self, shares: Tensor) -> Tensor:
        """The z below which these shares of the distribution lie; uniform shares give draws, with gradients by a and
        b.
        """
        base = -torch.expm1(torch.log1p(-shares) / self.b)
        k = base.clamp_min(EDGE).pow(1 / self.a)
        return (LOW + (HIGH - LOW) * k).clamp(0.0, 1.0)

    def draw(self) -> Tensor:
        """One draw each, from torch's global random state."""
        return self.quantile(torch.rand_like(self.a).clamp(EDGE, 1 - EDGE))

    def _beyond(self, z: float) -> Tensor:
        """1 - F(k) = (1 - k^a)^b at the k that is stretched to z."""
        k = torch.as_tensor((z - LOW) / (HIGH - LOW), dtype=self.a.dtype)
        return (self.b * torch.log1p(-k.pow(self.a))).exp()


def gates_of(parameters: Tensor) -> HardKuma:
    """[... 2], any numbers -> gates; the first number alone, made larger, opens a gate."""
    a, b = nn.functional.softplus(parameters).unbind(-1)
    return HardKuma(a.clamp_min(SMALLEST_A), b.clamp_min(SMALLEST_B))


def margin(parameters: Tensor) -> Tensor:
    """[... 2] -> [...]: how far the first number lies above the one that has P(z > 0) = 1/2."""
    half = _a_of(torch.tensor(0.5), gates_of(parameters).b)
    return parameters[..., 0] - half.expm1().log()


def start(above_zero: Tensor) -> Tensor:
    """[2]: first parameters with this P(z > 0), and b = 1."""
    ones = torch.ones_like(above_zero)
    return torch.stack([_a_of(above_zero, ones), ones]).expm1().log()


def _a_of(above_zero: Tensor, b: Tensor) -> Tensor:
    """The a at which (1 - k0^a)^b = P(z > 0)."""
    return torch.log1p(-above_zero.to(b).pow(1 / b)) / math.log(-LOW / (HIGH - LOW))
