"""Attention and layer norm under the rules of pairs: their multipliers in one piece, computed on the way back.

Texts stand first in a batch and their baselines below them (`pairs.py`). Written out, attention would keep several
numbers for each head and pair of pieces, a gigabyte on texts of 470 pieces, and compute each step twice. Here the graph
keeps queries, keys and values, and the multipliers of a few heads exist at once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.nn import functional as F

from pellucid.attribution.backward.expanded_functions import (
    AttentionCall,
    FunctionCall,
    LayerNormCall,
    depends_on_words,
    open_attention,
    open_layer_norm,
)
from pellucid.attribution.backward.mode import ChangedBackward, Rule
from pellucid.models.families.encoder import attention_scores, shared_heads
from pellucid.run.rounding import widened

AT_ONCE = 2**17  # pairs of pieces that are computed together: what a core's caches hold
LOWEST_LOG = -1e4  # of a softmax; a masked position has none


def parted(rows: Tensor, parts: int) -> tuple[Tensor, Tensor]:
    """[1 pair ...] texts and [baseline pair ...] baselines, of rows in so many equal parts."""
    groups = rows.unflatten(0, (parts, -1))
    return groups[:1], groups[1:]


def baselines_of(rows: Tensor, parts: int) -> Tensor:
    """[row ...]: the rows of baselines."""
    return rows[len(rows) // parts :]


def below_zeros(gradient: Tensor) -> Tensor:
    """[baseline pair ...] -> [row ...]: the gradient of all rows, which is 0 in those of texts."""
    return torch.cat([torch.zeros_like(gradient[:1]), gradient]).flatten(0, 1)


def opened(written_out: Callable[..., Any]) -> Rule:
    """A rule that runs the function written out, so that each of its steps follows its own rule."""

    def rule(mode: ChangedBackward, call: FunctionCall) -> Tensor:
        with mode:
            result: Tensor = written_out(*call.args, **call.kwargs)
            return result

    return rule


def logarithmic_mean(text: Tensor, blank: Tensor, log_text: Tensor, log_blank: Tensor) -> Tensor:
    """(s - s') / (log s - log s'), written as the larger of the two times (1 - e**-d) / d, with d the distance of their
    logarithms: so nothing cancels where they are nearly equal. A tiny number keeps d from being 0.
    """
    distance = torch.rsub((log_text - log_blank).abs_(), -torch.finfo(log_text.dtype).tiny)
    return torch.expm1(distance).div_(distance).mul_(torch.maximum(text, blank))


def layer_norm(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """Layer norm, with the multipliers of its mean, squares, inverse root and product."""
    norm = LayerNormCall(*call.args, **call.kwargs)
    if depends_on_words(norm.weight) or depends_on_words(norm.bias):
        return opened(open_layer_norm)(mode, call)
    output: Tensor = _PairedNorm.apply(norm.input, norm, mode.parts)
    return output


class _PairedNorm(Function):
    keeps_relevance = True

    @staticmethod
    def forward(ctx: Any, path: Tensor, norm: LayerNormCall, parts: int) -> Tensor:
        ctx.save_for_backward(path)
        ctx.weight, ctx.dims, ctx.eps, ctx.parts = norm.weight, norm.dims, norm.eps, parts
        ctx.width = path.shape[norm.dims[0] :].numel()
        return F.layer_norm(path, norm.normalized_shape, norm.weight, norm.bias, norm.eps)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        """y = c f(|c|²): the factor is fixed where it is smaller, and the vector beside the larger one."""
        (path,), dims = ctx.saved_tensors, ctx.dims
        centred = widened(path) - widened(path).mean(dims, keepdim=True)
        factor = (centred.square().mean(dims, keepdim=True) + ctx.eps).rsqrt()
        (text, blank), (of_text, of_blank) = parted(centred, ctx.parts), parted(factor, ctx.parts)
        upstream = widened(parted(gradient, ctx.parts)[1])
        upstream = upstream if ctx.weight is None else upstream * ctx.weight
        smaller = of_text <= of_blank
        by_factor = (upstream * torch.where(smaller, blank, text)).sum(dims, keepdim=True)
        # The factor's slope by the mean square, without a difference: v = f**-2.
        by_factor *= -((of_text * of_blank).square()) / (of_text + of_blank)
        by_centred = upstream * torch.where(smaller, of_text, of_blank)
        by_centred += (text + blank) * (by_factor / ctx.width)
        by_centred -= by_centred.mean(dims, keepdim=True)
        return below_zeros(by_centred.to(gradient)), None, None


def attention(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """Scaled dot-product attention, with the multipliers of its products and of its softmax."""
    arguments = AttentionCall(*call.args, **call.kwargs)
    if depends_on_words(arguments.attn_mask):
        return opened(open_attention)(mode, call)
    query, key, value = arguments.query, arguments.key, arguments.value
    if arguments.enable_gqa:
        key, value = shared_heads(query, key, value)
    output: Tensor = _PairedAttention.apply(query, key, value, arguments, mode.parts)
    return output


class _PairedAttention(Function):
    keeps_relevance = True

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor, call: AttentionCall, parts: int) -> Tensor:
        ctx.save_for_backward(query, key, value)
        ctx.mask, ctx.is_causal, ctx.scale, ctx.parts = call.attn_mask, call.is_causal, call.scale, parts
        return F.scaled_dot_product_attention(
            query, key, value, call.attn_mask, is_causal=call.is_causal, scale=call.scale
        )

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Some heads after the others, and of each some queries after the others: what fits a core's caches is fast."""
        query, key, value = ctx.saved_tensors
        of_groups = []
        for heads in _groups(query, key):
            of_heads = [_of(each, heads) for each in (query, key, value, gradient)]
            of_groups.append(_by_queries(ctx, heads, *of_heads))
        joined = (each[0] if len(each) == 1 else torch.cat(each, -3) for each in zip(*of_groups, strict=True))
        return *joined, None, None


def _groups(query: Tensor, key: Tensor) -> list[slice | None]:
    """Heads that are computed together; None, all of them, where there is no dimension of heads."""
    if query.ndim < 4:
        return [None]
    pairs = query.shape[:-3].numel() * query.shape[-2] * key.shape[-2]
    size = max(1, AT_ONCE // max(1, pairs))
    return [slice(first, first + size) for first in range(0, query.shape[-3], size)]


def _of(states: Tensor, heads: slice | None) -> Tensor:
    return states if heads is None else states[..., heads, :, :]


def _by_queries(
    ctx: Any, heads: slice | None, query: Tensor, key: Tensor, value: Tensor, gradient: Tensor
) -> tuple[Tensor, ...]:
    """The gradients by query, key and value, [row ... piece width] each; the tensors are those heads'."""
    mask, count = ctx.mask, query.shape[-2]
    if heads is not None and mask is not None and mask.ndim >= 3 and mask.shape[-3] > 1:
        mask = mask[..., heads, :, :]
    size = count if ctx.is_causal else max(1, AT_ONCE // max(1, query.shape[:-2].numel() * key.shape[-2]))
    middles = [_middle(each, ctx.parts) for each in (query, key, value)]
    by_query, by_others = [], None
    for first in range(0, count, size):
        some = slice(first, first + size)
        of_some = mask if mask is None or mask.shape[-2] == 1 else mask[..., some, :]
        of_queries = _Queries(query[..., some, :], middles[0][..., some, :], gradient[..., some, :])
        here, *others = _multipliers(ctx, of_some, of_queries, key, *middles[1:])
        by_query.append(here)
        by_others = (
            others if by_others is None else [total.add_(each) for total, each in zip(by_others, others, strict=True)]
        )
    return below_zeros(torch.cat(by_query, -2)), *map(below_zeros, by_others or ())


def _middle(rows: Tensor, parts: int) -> Tensor:
    """[baseline pair ...]: half way between a text's row and its baseline's."""
    text, blank = parted(rows, parts)
    return (text + blank) / 2


@dataclass(frozen=True, eq=False)
class _Queries:
    """Some queries [row ... piece width], what is half way between texts and baselines, and the outputs' gradients."""

    query: Tensor
    middle: Tensor
    gradient: Tensor


def _multipliers(
    ctx: Any, mask: Tensor | None, some: _Queries, key: Tensor, middle_key: Tensor, middle_value: Tensor
) -> tuple[Tensor, ...]:
    """The same of some queries, in the baselines' rows: [baseline pair ... piece width] each."""
    scores = attention_scores(some.query, key, mask=mask, is_causal=ctx.is_causal, scale=ctx.scale, lowest=None)
    logs, is_masked = scores.log_softmax(-1), mask is not None or ctx.is_causal
    logs = logs.clamp_min_(LOWEST_LOG) if is_masked else logs
    (log_text, log_blank), (text, blank) = parted(logs, ctx.parts), parted(logs.exp(), ctx.parts)
    changed = logarithmic_mean(text, blank, log_text, log_blank)
    upstream = parted(some.gradient, ctx.parts)[1]
    by_value = (text + blank).transpose(-1, -2) @ (upstream / 2)
    by_weights = upstream @ middle_value.transpose(-1, -2)
    shares = (changed * by_weights).sum(-1, keepdim=True) / changed.sum(-1, keepdim=True)
    by_scores = by_weights.sub_(shares).mul_(changed)
    if is_masked:  # masked positions are constants
        by_scores.masked_fill_(parted(scores, ctx.parts)[1] <= torch.finfo(scores.dtype).min / 4, 0.0)
    scale = some.query.shape[-1] ** -0.5 if ctx.scale is None else ctx.scale
    by_query, by_key = by_scores @ middle_key, by_scores.transpose(-1, -2) @ some.middle
    return by_query * scale, by_key * scale, by_value
