"""Attention under the rules of pairs, whose steps are computed again on the way back, some heads at a time.

Each step has a finite slope for each head and pair of pieces. Kept for the way back in all blocks they took a gigabyte on texts of 470 pieces;
here a block keeps its queries, keys and values, and slopes exist for some heads of one block at once.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.autograd import Function

from pellucid.attribution.backward.expanded_functions import (
    AttentionCall,
    FunctionCall,
    depends_on_words,
    open_attention,
)
from pellucid.attribution.backward.mode import ChangedBackward
from pellucid.models.families.encoder import shared_heads

AT_ONCE = 2**18  # pairs of pieces, of all heads that are computed together


def attention(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """Scaled dot-product attention written out, so that each of its steps follows its own rule."""
    one = AttentionCall(*call.args, **call.kwargs)
    if depends_on_words(one.attn_mask):
        with mode:
            return open_attention(*call.args, **call.kwargs)
    key, value = shared_heads(one.query, one.key, one.value) if one.enable_gqa else (one.key, one.value)
    steps = _Steps(mode, one.attn_mask, one.is_causal, one.scale)
    output: Tensor = _ComputedAgain.apply(steps, one.query, key, value)
    return output


@dataclass(frozen=True, eq=False)
class _Steps:
    """The steps of one call of attention, which follow the mode's rules; mask, is_causal, scale: the call's."""

    mode: ChangedBackward
    mask: Tensor | None
    is_causal: bool
    scale: float | None

    def of(self, heads: slice | None, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """The output for some heads, None for all there are; the tensors are those heads'."""
        mask = self.mask
        if heads is not None and mask is not None and mask.ndim >= 3 and mask.shape[-3] > 1:
            mask = mask[..., heads, :, :]
        with self.mode:
            return open_attention(query, key, value, mask, is_causal=self.is_causal, scale=self.scale)


class _ComputedAgain(Function):
    """Attention whose way back computes its steps again."""

    keeps_relevance = True

    @staticmethod
    def forward(ctx, steps, query, key, value):
        ctx.steps = steps
        ctx.save_for_backward(query, key, value)
        return _joined(
            steps.of(heads, *(_of(each, heads) for each in (query, key, value)))
            for heads in _groups(query, key)
        )

    @staticmethod
    def backward(ctx, gradient):
        query, key, value = ctx.saved_tensors
        of_groups = [
            _gradients(
                lambda *some, heads=heads: ctx.steps.of(heads, *some),
                [_of(each, heads) for each in (query, key, value)],
                _of(gradient, heads),
            )
            for heads in _groups(query, key)
        ]
        return None, *(_joined(iter(of_input)) for of_input in zip(*of_groups, strict=True))


def _groups(query: Tensor, key: Tensor) -> list[slice | None]:
    """Heads that are computed together; None, all of them, where there is no dimension of heads."""
    if query.ndim < 4 or key.shape[-3] != query.shape[-3]:
        return [None]
    pairs = query.shape[:-3].numel() * query.shape[-2] * key.shape[-2]
    size = max(1, AT_ONCE // max(1, pairs))
    return [slice(first, first + size) for first in range(0, query.shape[-3], size)]


def _of(states: Tensor, heads: slice | None) -> Tensor:
    return states if heads is None else states[..., heads, :, :]


def _joined(of_groups: Iterator[Tensor]) -> Tensor:
    """The groups' tensors beside each other in the dimension of heads."""
    tensors = list(of_groups)
    return tensors[0] if len(tensors) == 1 else torch.cat(tensors, -3)


def _gradients(
    steps: Callable[..., Tensor], inputs: list[Tensor], gradient: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of the steps by query, key and value."""
    with torch.enable_grad():
        leaves = [each.detach().requires_grad_() for each in inputs]
        query, key, value = torch.autograd.grad(steps(*leaves), leaves, gradient, materialize_grads=True)
    return query, key, value
