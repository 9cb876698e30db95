"""Attention over units written out unit by unit, for one text: additive and dot scores, softmax, sum, unit logits."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class Result(NamedTuple):
    weights: list[float]
    pooled: Tensor
    unit_logits: list[Tensor]


def word_states(states: Tensor, words: Sequence[int]) -> list[Tensor]:
    """The mean state of each word's pieces; words: the number of each piece's word, -1 for special tokens."""
    numbers = list(dict.fromkeys(word for word in words if word >= 0))
    return [
        sum(states[piece] for piece, word in enumerate(words) if word == number) / words.count(number)
        for number in numbers
    ]


def additive_score(h: Tensor, matrix: Tensor, b: Tensor, v: Tensor) -> float:
    """v . tanh(W h + b), number by number."""
    return sum(
        float(v[row]) * math.tanh(sum(float(matrix[row, n]) * float(h[n]) for n in range(len(h))) + float(b[row]))
        for row in range(len(v))
    )


def dot_score(h: Tensor, q: Tensor) -> float:
    """q . h / sqrt(width)"""
    return sum(float(q[n]) * float(h[n]) for n in range(len(h))) / math.sqrt(len(h))


def attention(h: Sequence[Tensor], scores: Sequence[float], head: Tensor, bias: Tensor) -> Result:
    """alpha, sum of alpha h, and the head's logits of every h."""
    total = sum(math.exp(score) for score in scores)
    weights = [math.exp(score) / total for score in scores]
    pooled = torch.zeros_like(h[0])
    for weight, state in zip(weights, h, strict=True):
        pooled = pooled + weight * state
    return Result(weights, pooled, [head @ state + bias for state in h])
