"""Rationales written out choice by choice, for one short text.

Lei, Barzilay and Jaakkola (2016), equations 1 to 3; Bastings, Aziz and Titov (2019), sections 3 and 4.2.
"""

import itertools
import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor


def choices(n: int) -> list[tuple[int, ...]]:
    """Every way to read some of n words."""
    return list(itertools.product((0, 1), repeat=n))


def chance_of(z: Sequence[int], chances: Tensor) -> Tensor:
    """p(z | x) of independent gates."""
    chance_of_all = torch.ones((), dtype=chances.dtype)
    for one, chance in zip(z, chances, strict=True):
        chance_of_all = chance_of_all * (chance if one else 1 - chance)
    return chance_of_all


def cost(z: Sequence[int], loss: Callable, sparsity: float, coherence: float) -> Tensor:
    """Equation 2: the loss of what was read, a price a word and a price a change, each a word of the text."""
    changes = sum(abs(one - other) for one, other in itertools.pairwise(z))
    return loss(z) + (sparsity * sum(z) + coherence * changes) / len(z)


def expected_cost(chances: Tensor, loss: Callable, sparsity: float, coherence: float) -> Tensor:
    """The sum over all choices; its gradient is what sampling estimates."""
    return sum(chance_of(z, chances) * cost(z, loss, sparsity, coherence).detach() for z in choices(len(chances)))


def hard_kuma_density(k: Tensor, a: float, b: float) -> Tensor:
    """The density of the Kumaraswamy variable before it is stretched."""
    return a * b * k ** (a - 1) * (1 - k**a) ** (b - 1)


def hard_kuma_chance(a: float, b: float, low: float, high: float, n: int = 200_000) -> float:
    """P(low < k < high) by the midpoint rule, over log k: the density has a pole at 0 where a < 1."""
    begin, end = math.log(low or 1e-30), math.log(high)
    step = (end - begin) / n
    k = torch.exp(begin + (torch.arange(n, dtype=torch.float64) + 0.5) * step)
    return float((hard_kuma_density(k, a, b) * k).sum() * step)
