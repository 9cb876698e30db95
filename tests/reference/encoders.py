"""Encoders on word vectors written out slowly: one text, one position after the other.

LSTM: Hochreiter & Schmidhuber (1997) with a forget gate, in torch's order of gates. CNN: Kim (2014), equation 2, with zeros
beyond the ends.
"""

import torch
from torch import Tensor


def bilstm(vectors: Tensor, weights: dict[str, Tensor]) -> Tensor:
    """[position size] -> [position width]: the states from the left beside those from the right. weights: of one layer."""
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
