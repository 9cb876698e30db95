"""Encoders on word vectors written out slowly: one text, one position after the other.

LSTM: Hochreiter & Schmidhuber (1997) with a forget gate, in torch's order of gates. CNN: Kim (2014), equation 2, with
zeros beyond the ends. Transformer: Vaswani et al. (2017), section 3.
"""

import math

import torch
from torch import Tensor


def bilstm(vectors: Tensor, weights: dict[str, Tensor]) -> Tensor:
    """[position size] -> [position width]: the states from the left beside those from the right. weights: of one
    layer.
    """
    left = _one_way(vectors, *(weights[f"{name}_l0"] for name in _NAMES))
    right = _one_way(vectors.flip(0), *(weights[f"{name}_l0_reverse"] for name in _NAMES)).flip(0)
    return torch.cat([left, right], -1)


_NAMES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def _one_way(vectors: Tensor, w: Tensor, u: Tensor, b: Tensor, c: Tensor) -> Tensor:
    hidden = torch.zeros(u.shape[1])
    cell, states = hidden, []
    for vector in vectors:
        enter, keep, signal, leave = (w @ vector + b + u @ hidden + c).chunk(4)
        cell = keep.sigmoid() * cell + enter.sigmoid() * signal.tanh()
        hidden = leave.sigmoid() * cell.tanh()
        states.append(hidden)
    return torch.stack(states)


def cnn(vectors: Tensor, filters: list[tuple[Tensor, Tensor]]) -> Tensor:
    """[position size] -> [position width]; filters: (weight [filter size width], bias [filter]) of each width."""
    states = []
    for position in range(len(vectors)):
        here = []
        for weight, bias in filters:
            width = weight.shape[-1]
            answer = bias.clone()
            for k in range(width):
                read = position - (width - 1) // 2 + k
                if 0 <= read < len(vectors):
                    answer += weight[:, :, k] @ vectors[read]
            here.append(answer.clamp(min=0))
        states.append(torch.cat(here))
    return torch.stack(states)


def transformer(vectors: Tensor, blocks: list[dict[str, Tensor]], heads: int) -> list[Tensor]:
    """[position width] -> the states after each block; blocks: the weights of each, by name."""
    count, width = vectors.shape
    states = math.sqrt(width) * vectors
    for position in range(count):
        for number in range(width):
            angle = position / 10_000 ** ((number - number % 2) / width)
            states[position, number] += math.cos(angle) if number % 2 else math.sin(angle)
    after = []
    for weights in blocks:
        states = _transformer_block(states, weights, heads)
        after.append(states)
    return after


def _transformer_block(states: Tensor, weights: dict[str, Tensor], heads: int) -> Tensor:
    count, width = states.shape
    size = width // heads
    joined = torch.zeros(count, width)
    for head in range(heads):
        part = slice(head * size, (head + 1) * size)
        query, key, value = (
            torch.stack([_linear(state, weights, name)[part] for state in states]) for name in ("query", "key", "value")
        )
        for position in range(count):
            looks = torch.stack([query[position] @ key[other] / math.sqrt(size) for other in range(count)])
            shares = looks.exp() / looks.exp().sum()
            joined[position, part] = sum(shares[other] * value[other] for other in range(count))
    after = []
    for state, read in zip(states, joined, strict=True):
        middle = _norm(state + _linear(read, weights, "out"), weights, "after_attention")
        added = _linear(_linear(middle, weights, "inner").clamp(min=0), weights, "outer")
        after.append(_norm(middle + added, weights, "after_feed_forward"))
    return torch.stack(after)


def _linear(vector: Tensor, weights: dict[str, Tensor], name: str) -> Tensor:
    return weights[f"{name}.weight"] @ vector + weights[f"{name}.bias"]


def _norm(vector: Tensor, weights: dict[str, Tensor], name: str) -> Tensor:
    spread = ((vector - vector.mean()) ** 2).mean()
    return (vector - vector.mean()) / (spread + 1e-5).sqrt() * weights[f"{name}.weight"] + weights[f"{name}.bias"]
