"""The span kernel's route in plain PyTorch: tiles of spans, on any device, in any number type.

tanh z is computed as 2 sigmoid(2z) - 1: on the CPUs we measured, PyTorch's sigmoid takes a sixth of its tanh's
time. Sums are taken tile by tile, then added up: one float32 sum over 100,000 spans loses a digit.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from pellucid.models.span_kernel.packs import Arriving, Pack, Scoring, SpanLimits, Sums, packs_of


class Tiles:
    """See `Stream`."""

    def __init__(self, limits: SpanLimits, width: int) -> None:
        self.packs = packs_of(limits, width)

    def attend(self, a: Tensor, c: Tensor, p: Tensor, u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        scores = a.new_full((*a.shape[:2], a.shape[1]), -torch.inf)
        means, buffer = _Means(a), _buffer(self.packs, a)
        for pack in self.packs:
            illegal = ~pack.legal
            pack_scores = scores.new_full(pack.legal.shape, -torch.inf)
            for tile, tanh in _tanhs(pack, a, c, p, buffer):
                tile_scores = (tanh @ u).masked_fill_(illegal[tile], -torch.inf)
                pack_scores[tile] = tile_scores
                means.add(pack.example, tile_scores, tanh)
            pack.write_spans(pack_scores, into=scores)
        log_normaliser, pooled = means.joined()
        return scores, pooled, log_normaliser

    def average(self, a: Tensor, c: Tensor, p: Tensor, log_weights: Tensor) -> Tensor:
        means, buffer = _Means(a), _buffer(self.packs, a)
        for pack in self.packs:
            pack_weights = pack.spans(log_weights, -torch.inf)
            for tile, tanh in _tanhs(pack, a, c, p, buffer):
                means.add(pack.example, pack_weights[tile], tanh)
        log_sum, mean = means.joined()
        return mean * log_sum.exp()[:, None]

    def gradients(self, a: Tensor, c: Tensor, p: Tensor, arriving: Arriving) -> tuple[Tensor, ...]:
        log_weights, log_normaliser, grad_pooled, scoring = arriving
        grads = tuple(torch.zeros_like(value) for value in (a, c, p))
        grad_u = a.new_zeros(a.shape[-1])
        buffers = _buffer(self.packs, a), _buffer(self.packs, a)
        for pack in self.packs:
            # For an example without legal spans: minus infinity minus itself would be nan.
            normaliser = log_normaliser[pack.example, None, None].clamp(min=torch.finfo(torch.float64).min)
            weights = (pack.spans(log_weights, -torch.inf) - normaliser).exp_().to(a.dtype)
            through = None if scoring is None else _Through(pack, scoring, weights, grad_u)
            _backward(pack, (a, c, p), grads, weights, grad_pooled[pack.example], buffers, through)
        return *grads, grad_u


class _Means:
    """Weighted sums of tanh over single tiles, joined at the end into one mean an example."""

    def __init__(self, a: Tensor) -> None:
        self.lowest = torch.finfo(a.dtype).min
        # An empty part for each example, so that one without spans is no special case.
        highest = a.new_full(a.shape[:1], self.lowest)
        example = torch.arange(len(a), device=a.device)
        self.parts = [Sums(example, highest, torch.zeros_like(highest), a.new_zeros(len(a), a.shape[-1]))]

    def add(self, example: Tensor, log_weights: Tensor, tanh: Tensor) -> None:
        """log_weights: [text, row, column]; tanh: [text, row, column, width]"""
        log_weights = log_weights.flatten(1)
        # Minus infinity minus itself would be nan; minus the lowest number it stays minus infinity.
        highest = log_weights.amax(1).clamp_(min=self.lowest)
        weights = (log_weights - highest[:, None]).exp_()
        weighted = torch.bmm(weights[:, None], tanh.flatten(1, 2))[:, 0]
        self.parts.append(Sums(example, highest, weights.sum(1), weighted))

    def joined(self) -> tuple[Tensor, Tensor]:
        """See `Sums.joined`."""
        parts = Sums(*(torch.cat(values) for values in zip(*self.parts, strict=True)))
        return parts.joined(len(self.parts[0].example))


class _Through:
    """The gradient that passes through a pack's scores."""

    def __init__(self, pack: Pack, scoring: Scoring, weights: Tensor, grad_u: Tensor) -> None:
        self.u, self.grad_u = scoring.u, grad_u
        shift = scoring.shift[pack.example, None, None]
        self.known = pack.spans(scoring.known, 0.0).addcmul_(weights, shift)

    def add(self, tile: tuple[Any, ...], weights: Tensor, grad_pooled: Tensor, tanh: Tensor, grad: Tensor) -> None:
        """Add the gradient that passes through a tile's scores to that of its tanh, and to that of u."""
        # Row times transposed matrix: a batched product with a column is ten times slower on a CPU.
        projected = torch.bmm(grad_pooled[:, None], tanh.flatten(1, 2).transpose(1, 2)).view_as(weights)
        grad_scores = torch.addcmul(self.known[tile], weights, projected)
        self.grad_u.add_(grad_scores.flatten() @ tanh.flatten(0, 2))
        grad.addcmul_(grad_scores[..., None], self.u)


def _backward(pack, inputs, grads, weights, grad_pooled, buffers, scoring: _Through | None = None) -> None:
    """Add one pack's part to the gradients of a, c and p, computing each tile's tanh once more."""
    a, c, p = inputs
    pack_p = pack.units(p)
    pack_grads = [torch.zeros_like(pack_p) for _ in grads]
    for tile, tanh in _tanhs(pack, a, c, p, buffers[0]):
        grad = buffers[1][: tanh.numel()].view_as(tanh)
        torch.mul(weights[tile][..., None], grad_pooled[:, None, None], out=grad)
        if scoring is not None:
            scoring.add(tile, weights[tile], grad_pooled, tanh, grad)
        torch.ops.aten.tanh_backward.grad_input(grad, tanh, grad_input=grad)
        _add_tile(tile, pack_p, grad, pack_grads, spare=tanh)
    for total, pack_grad in zip(grads, pack_grads, strict=True):
        pack.add_units(pack_grad, into=total)


def _add_tile(tile: tuple[Any, ...], p: Tensor, grad: Tensor, totals: list[Tensor], spare: Tensor) -> None:
    """grad: with respect to a_i + c_j + p_i * p_j. A span of one unit rightly counts twice for p."""
    _, rows, columns = tile
    grad_a, grad_c, grad_p = totals
    grad_a[:, rows] += grad.sum(2)
    grad_c[:, columns] += grad.sum(1)
    grad_p[:, rows] += torch.mul(grad, p[:, None, columns], out=spare).sum(2)
    grad_p[:, columns] += torch.mul(grad, p[:, rows, None], out=spare).sum(1)


def _tanhs(pack: Pack, a: Tensor, c: Tensor, p: Tensor, buffer: Tensor) -> Iterator[tuple[tuple[Any, ...], Tensor]]:
    """Every tile with its t [text, row, column, width], each written over the one before."""
    a, c, p = 2 * pack.units(a), 2 * pack.units(c), pack.units(p)
    minus_one = p.new_tensor(-1.0)
    for rows, columns in pack.tiles:
        left, right = p[:, rows, None], p[:, None, columns]
        shape = (len(p), left.shape[1], right.shape[2], p.shape[2])
        tanh = buffer[: shape[0] * shape[1] * shape[2] * shape[3]].view(shape)
        torch.addcmul(c[:, None, columns], left, right, value=2, out=tanh)
        tanh.add_(a[:, rows, None]).sigmoid_()
        yield (slice(None), rows, columns), torch.add(minus_one, tanh, alpha=2, out=tanh)


def _buffer(packs: list[Pack], a: Tensor) -> Tensor:
    """Memory for the largest tile."""
    spans = [
        len(pack.unit) * (rows.stop - rows.start) * (columns.stop - columns.start)
        for pack in packs
        for rows, columns in pack.tiles
    ]
    return a.new_empty(max(spans, default=0) * a.shape[-1])
