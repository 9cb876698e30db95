"""The vectors of all spans of a source, once for every step that reads them.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", equation 6, folded as in `models/span_kernel/kernel.py`:
t_ij = tanh(a_i + c_j + p_i * p_j). A classifier asks its spans one question, and the kernel need not have the vectors in
memory; a translator asks at every step, so one tanh a span serves all steps, and the vectors are kept: spans x width numbers a
text, never steps x spans x width.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.overrides import handle_torch_function, has_torch_function


@dataclass(frozen=True)
class SpanPlaces:
    """Every span i..j with j - i < max_width among so many units, those with one start side by side.

    first, last: [span], the numbers of the units. blocks: for each start, where its spans stand.
    """

    first: Tensor
    last: Tensor
    blocks: tuple[slice, ...]


def span_places(n_units: int, max_width: int | None, device: torch.device) -> SpanPlaces:
    """The spans of a text of so many units; max_width: None for no limit."""
    width = n_units if max_width is None else min(max_width, n_units)
    counts = [min(width, n_units - start) for start in range(n_units)]
    ends = torch.tensor(counts).cumsum(0).tolist()
    blocks = tuple(slice(end - count, end) for end, count in zip(ends, counts, strict=True))
    first = torch.repeat_interleave(torch.arange(n_units), torch.tensor(counts))
    offsets = torch.arange(len(first)) - torch.tensor([block.start for block in blocks])[first]
    return SpanPlaces(first.to(device), (first + offsets).to(device), blocks)


def span_vectors(a: Tensor, c: Tensor, p: Tensor, places: SpanPlaces) -> Tensor:
    """[batch unit width] each -> [batch span width]; a, c, p have gradients of the first order.

    Like torch's own functions it passes itself to an active function mode, which can run `written_out` instead.
    """
    if has_torch_function((a, c, p)):
        return handle_torch_function(span_vectors, (a, c, p), a, c, p, places)
    return _SpanVectors.apply(a, c, p, places)


class _SpanVectors(Function):
    """The products of one start are a block, so no index is gathered and only the vectors are saved."""

    @staticmethod
    def forward(ctx, a, c, p, places):
        vectors = a.new_empty(len(a), len(places.first), a.shape[-1])
        for start, block in enumerate(places.blocks):
            here, until = vectors[:, block], start + block.stop - block.start
            torch.mul(p[:, start : start + 1], p[:, start:until], out=here)
            here += a[:, start : start + 1]
            here += c[:, start:until]
        vectors.tanh_()
        ctx.save_for_backward(p, vectors)
        ctx.blocks = places.blocks
        return vectors

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        p, vectors = ctx.saved_tensors
        kind = torch.promote_types(p.dtype, torch.float32)  # many small numbers are added up
        grad_a, grad_c, grad_p = (torch.zeros_like(p, dtype=kind) for _ in range(3))
        for start, block in enumerate(ctx.blocks):
            until, of_block = start + block.stop - block.start, vectors[:, block]
            inner = grad[:, block] * (1 - of_block * of_block)
            grad_a[:, start] = inner.sum(1)
            grad_c[:, start:until] += inner
            grad_p[:, start] += (inner * p[:, start:until]).sum(1)
            grad_p[:, start:until] += inner * p[:, start : start + 1]
        return grad_a.to(p.dtype), grad_c.to(p.dtype), grad_p.to(p.dtype), None


def _written_out(a: Tensor, c: Tensor, p: Tensor, places: SpanPlaces) -> Tensor:
    """The same by functions that have rules of relevance."""
    first, last = places.first, places.last
    return torch.tanh(a[:, first] + c[:, last] + p[:, first] * p[:, last])


span_vectors.written_out = _written_out  # type: ignore[attr-defined]
