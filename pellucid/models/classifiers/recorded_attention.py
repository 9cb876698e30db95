"""Attention weights of each block, and what each head would carry from each piece, recorded while a network runs.

Works on fused attention (scaled_dot_product_attention) and on attention written out with a softmax, without switching
the model's implementation, which models of one configuration share.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from pellucid.models.families.encoder import attention_scores, shared_heads

SOFTMAX = (F.softmax, torch.softmax, Tensor.softmax)
FACTORS = {F.linear: 1, torch.addmm: 2}  # linear maps, and the index of their weight among the arguments
PRODUCTS = (torch.matmul, Tensor.matmul, Tensor.__matmul__, torch.bmm, Tensor.bmm)


class RecordedAttention(TorchFunctionMode):
    """While active, computes attention written out and records it, block by block, as nodes of the graph.

    weights: [example head query key]. head_values: with values=True, [example head key width], what a head would add to
    a piece that looked at this key alone: its value through the block's output projection; fewer than weights where
    the projection was not found. oblong: a softmax over other keys than there are queries counts too, as where a decoder reads
    a source.
    """

    def __init__(self, values: bool = False, *, oblong: bool = False) -> None:
        super().__init__()
        self._oblong = oblong
        self.weights: list[Tensor] = []
        self.head_values: list[Tensor] = []
        self._values = values
        self._waiting: tuple[Tensor, Tensor] | None = None  # a block's values and outputs, heads apart

    def __torch_function__(
        self, func: Callable, types: object, args: tuple = (), kwargs: dict | None = None
    ) -> object:
        kwargs = kwargs or {}
        if func is F.scaled_dot_product_attention:
            return self._open(*args, **kwargs)
        if self._waiting is not None and len(args) > FACTORS.get(func, len(args)):
            self._project(func, *args)
        output = func(*args, **kwargs)
        if func in SOFTMAX and output.ndim == 4 and (self._oblong or output.shape[-1] == output.shape[-2]):
            self.weights.append(output)
        elif self._values and self.weights and func in PRODUCTS and _same_size(args[0], self.weights[-1]):
            shape = (*self.weights[-1].shape[:2], -1, output.shape[-1])
            self._waiting = args[1].reshape(shape), output.reshape(shape)
        return output

    def _open(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Tensor:
        if enable_gqa:
            key, value = shared_heads(query, key, value)
        scores = attention_scores(
            query, key, attn_mask, is_causal=is_causal, scale=scale, lowest=float("-inf")
        )
        weights = _softmax(scores, attn_mask)
        self.weights.append(weights)
        output = weights @ value
        if self._values:
            self._waiting = value, output
        return output

    def _project(self, func: Callable, *args: Tensor) -> None:
        """Record the head values, if this linear map is the one that the joined heads go through."""
        assert self._waiting is not None
        value, output = self._waiting
        factor, weight = (args[0], args[1].T) if func is F.linear else (args[1], args[2])
        joined = output.transpose(1, 2).reshape(factor.shape) if factor.numel() == output.numel() else None
        if joined is None or not torch.equal(factor, joined):
            return
        heads = weight.reshape(value.shape[1], value.shape[-1], -1)
        self.head_values.append(torch.einsum("bhkd,hdw->bhkw", value, heads))
        self._waiting = None


def _softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    """A row whose keys are all masked (a padded query) would be nan, and so would every gradient; its weights are 0."""
    if mask is None:
        return scores.softmax(-1)
    nothing = (~mask if mask.dtype == torch.bool else mask.isneginf()).all(-1, keepdim=True)
    if not nothing.any():  # looked up in the mask, which all heads share
        return scores.softmax(-1)
    return scores.masked_fill(nothing, 0.0).softmax(-1).masked_fill(nothing, 0.0)


def _same_size(factor: Tensor, weights: Tensor) -> bool:
    return factor.numel() == weights.numel() and factor.shape[-2:] == weights.shape[-2:]
