"""A tiny BERT with B-cos layers, written out: beside each state stands the matrix that makes it from the states before
the first block.

What depends on the text in another way than by that matrix (attention weights, deviations, alignments, slopes of
activations) is taken as it is in the text.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass
class Mapped:
    """value: [piece width]. map: [piece width piece input], with which the first states give the value."""

    value: Tensor
    map: Tensor


def first(states: Tensor) -> Mapped:
    """The states before the first block [piece width], which are themselves."""
    pieces, width = states.shape
    return Mapped(states, torch.eye(pieces * width, dtype=states.dtype).reshape(pieces, width, pieces, width))


def scaled(one: Mapped, scale: Tensor) -> Mapped:
    """Every number times one of its own."""
    return Mapped(one.value * scale, one.map * scale[..., None, None])


def linear(one: Mapped, weight: Tensor) -> Mapped:
    """A linear layer without a bias."""
    return Mapped(one.value @ weight.T, torch.einsum("oi,piqj->poqj", weight, one.map))


def b_cos(one: Mapped, weight: Tensor, exponent: float) -> Mapped:
    """The same, each output times |cos| to the power B - 1."""
    output = linear(one, weight)
    scale = torch.zeros_like(output.value)
    for piece, row in enumerate(one.value):
        for number, column in enumerate(weight):
            cosine = float(row @ column / (row.norm() * column.norm()))
            scale[piece, number] = abs(cosine) ** (exponent - 1)
    return scaled(output, scale)


def norm(one: Mapped, weight: Tensor, epsilon: float) -> Mapped:
    """A layer norm without a bias."""
    value = one.value - one.value.mean(-1, keepdim=True)
    deviation = (value.square().mean(-1, keepdim=True) + epsilon).sqrt()
    return scaled(Mapped(value, one.map - one.map.mean(1, keepdim=True)), weight / deviation)


def gelu(one: Mapped) -> Mapped:
    """x times the share of a normal distribution below x."""
    return scaled(one, 0.5 * (1 + torch.erf(one.value / math.sqrt(2))))


def attention(one: Mapped, layer: dict[str, Tensor], heads: int, exponent: float) -> Mapped:
    """Self-attention: the values are mixed by weights that are taken as they are."""
    query, key, value = (b_cos(one, layer[name], exponent) for name in ("query", "key", "value"))
    size = query.value.shape[1] // heads
    mixed, mixed_map = torch.zeros_like(value.value), torch.zeros_like(value.map)
    for head in range(heads):
        own = slice(head * size, (head + 1) * size)
        weights = (query.value[:, own] @ key.value[:, own].T / math.sqrt(size)).softmax(-1)
        mixed[:, own] = weights @ value.value[:, own]
        mixed_map[:, own] = torch.einsum("pq,qiab->piab", weights, value.map[:, own])
    return Mapped(mixed, mixed_map)


def block(one: Mapped, layer: dict[str, Tensor], heads: int, epsilon: float, exponent: float) -> Mapped:
    """One block of BERT."""
    read = b_cos(attention(one, layer, heads, exponent), layer["attention_output"], exponent)
    one = norm(Mapped(read.value + one.value, read.map + one.map), layer["attention_norm"], epsilon)
    inner = gelu(b_cos(one, layer["inner"], exponent))
    outer = b_cos(inner, layer["outer"], exponent)
    return norm(Mapped(outer.value + one.value, outer.map + one.map), layer["norm"], epsilon)


def contributions(
    states: Tensor, layers: list[dict[str, Tensor]], head: Tensor, heads: int, epsilon: float, exponent: float
) -> tuple[Tensor, Tensor]:
    """([class], [class piece]): the logits of the first piece's state, and what each piece contributes to them."""
    one = first(states)
    for layer in layers:
        one = block(one, layer, heads, epsilon, exponent)
    logits, matrix = head @ one.value[0], torch.einsum("ci,iqj->cqj", head, one.map[0])
    return logits, torch.einsum("cqj,qj->cq", matrix, states)
