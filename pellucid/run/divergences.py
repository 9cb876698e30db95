"""How far two distributions lie apart: total variation distance, Jensen-Shannon and Kullback-Leibler divergence."""

import torch
from torch import Tensor


def total_variation(one: Tensor, other: Tensor) -> Tensor:
    """[... class], each summing to 1 -> [...]: half the sum of |p - q|, 0 to 1; of two classes |p_1 - q_1|.

    Wiegreffe & Pinter (2019), "Attention is not not Explanation", equation 1 (corrections.md A4.2).
    """
    return (one - other).abs().sum(-1) / 2


def kullback_leibler(one: Tensor, other: Tensor) -> Tensor:
    """[... outcome] -> [...]: the sum of p log(p / q) in nats, 0 or more; finite also where q is 0."""
    return (one * (_log(one) - _log(other))).sum(-1)


def jensen_shannon(one: Tensor, other: Tensor) -> Tensor:
    """[... outcome] -> [...]: the mean divergence of both from their mean, in nats, 0 to log 2."""
    mean = (one + other) / 2
    return (kullback_leibler(one, mean) + kullback_leibler(other, mean)) / 2


def _log(values: Tensor) -> Tensor:
    """The logarithm, of 0 that of the smallest number: 0 log 0 is 0 then, with a finite gradient."""
    return values.clamp_min(torch.finfo(values.dtype).tiny).log()
