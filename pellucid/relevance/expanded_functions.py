"""Functions that hide several others, written out: so that each part meets its rule."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from pellucid.core.foundation.errors import ModelCannot
from pellucid.models.families.attention_scores import attention_scores, shared_heads


def open_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Scaled dot-product attention, [... query width]; a masked key has weight 0 wherever another key is left."""
    if enable_gqa:
        key, value = shared_heads(query, key, value)
    scores = attention_scores(query, key, attn_mask, is_causal, scale, lowest=None)
    return scores.softmax(-1) @ value


def open_layer_norm(
    input: Tensor,
    normalized_shape: Any,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    *_: Any,
) -> Tensor:
    """Layer norm from a mean, squares and an inverse root."""
    dims = tuple(range(-len(normalized_shape), 0))
    normed = open_rms_norm(input - input.mean(dims, keepdim=True), normalized_shape, weight, eps)
    return normed if bias is None else normed + bias


def open_rms_norm(
    input: Tensor, normalized_shape: Any, weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """The input over the root of its mean square."""
    dims = tuple(range(-len(normalized_shape), 0))
    added = torch.finfo(input.dtype).eps if eps is None else eps
    normed = input * (input.square().mean(dims, keepdim=True) + added).rsqrt()
    return normed if weight is None else normed * weight


def open_normalize(
    input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: None = None
) -> Tensor:
    """The input over its Euclidean length."""
    if p != 2:
        raise ModelCannot("DeepLIFT has no rule for F.normalize with p other than 2.")
    least = max(eps**2, torch.finfo(input.dtype).tiny)  # in float16 the usual one is 0
    return input * (input.square().sum(dim, keepdim=True) + least).rsqrt()


def multi_head_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, None]:
    """`F.multi_head_attention_forward`, [place example width]; weights are not given back."""
    if any(extra is not None for extra in (bias_k, bias_v, static_k, static_v)) or add_zero_attn:
        raise ModelCannot(
            "Relevance has no rule for attention with added keys (bias_k, add_zero_attn, static_k)."
        )
    single = query.ndim == 2
    if single:
        query, key, value = (states[:, None] for states in (query, key, value))
    separate = (q_proj_weight, k_proj_weight, v_proj_weight)
    weights: Any = separate if use_separate_proj_weight or in_proj_weight is None else in_proj_weight.chunk(3)
    biases = (None,) * 3 if in_proj_bias is None else in_proj_bias.chunk(3)
    # From here on the example comes first, as everywhere else.
    queries, keys, values = (
        F.linear(states.transpose(0, 1), weight, bias).unflatten(-1, (num_heads, -1)).transpose(1, 2)
        for states, weight, bias in zip((query, key, value), weights, biases, strict=True)
    )
    mask = _joined(key_padding_mask, attn_mask, queries)
    mixed = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask).transpose(1, 2).flatten(2)
    output = F.linear(mixed, out_proj_weight, out_proj_bias).transpose(0, 1)
    return output[:, 0] if single else output, None


def _joined(padding: Tensor | None, mask: Tensor | None, queries: Tensor) -> Tensor | None:
    """[example head query key] to be added to the scores, from masks in which True hides."""
    parts = []
    if padding is not None:
        parts.append(_added(padding, queries)[..., None, None, :])
    if mask is not None:
        added = _added(mask, queries)
        parts.append(added if added.ndim == 2 else added.unflatten(0, (-1, queries.shape[1])))
    return None if not parts else sum(parts[1:], parts[0])


def _added(mask: Tensor, like: Tensor) -> Tensor:
    if mask.dtype != torch.bool:
        return mask.to(like.dtype)
    return torch.zeros_like(mask, dtype=like.dtype).masked_fill(mask, torch.finfo(like.dtype).min / 4)


OPENED: dict[Callable, Callable[..., Any]] = {F.multi_head_attention_forward: multi_head_attention}
