"""Functions of torch that compute several steps at once, written out, so that a rule applies to each step.

A call's arguments are a record, whose fields stand in the order in which torch takes them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from pellucid.base.errors import ModelCannot
from pellucid.models.families.encoder import attention_scores, shared_heads


@dataclass(frozen=True, eq=False)
class AttentionCall:
    """The arguments of `F.scaled_dot_product_attention`."""

    query: Tensor
    key: Tensor
    value: Tensor
    attn_mask: Tensor | None = None
    dropout_p: float = 0.0
    is_causal: bool = False
    scale: float | None = None
    enable_gqa: bool = False


def open_attention(*args: Any, **kwargs: Any) -> Tensor:
    """Scaled dot-product attention, [... query width]; a masked key has weight 0 wherever another key is left."""
    call = AttentionCall(*args, **kwargs)
    key, value = call.key, call.value
    if call.enable_gqa:
        key, value = shared_heads(call.query, key, value)
    scores = attention_scores(
        call.query, key, mask=call.attn_mask, is_causal=call.is_causal, scale=call.scale, lowest=None
    )
    return scores.softmax(-1) @ value


@dataclass(frozen=True, eq=False)
class LayerNormCall:
    """The arguments of `F.layer_norm`, or of `torch.layer_norm`, which has one more."""

    input: Tensor
    normalized_shape: Sequence[int]
    weight: Tensor | None = None
    bias: Tensor | None = None
    eps: float = 1e-5
    cudnn_enable: bool = True

    @property
    def dims(self) -> tuple[int, ...]:
        """The dimensions that are normalised: the last ones."""
        return tuple(range(-len(self.normalized_shape), 0))

    @property
    def centred(self) -> Tensor:
        """The input less its mean."""
        return self.input - self.input.mean(self.dims, keepdim=True)


def open_layer_norm(*args: Any, **kwargs: Any) -> Tensor:
    """Layer norm from a mean, squares and an inverse root."""
    call = LayerNormCall(*args, **kwargs)
    normed = open_rms_norm(call.centred, call.normalized_shape, call.weight, call.eps)
    return normed if call.bias is None else normed + call.bias


def open_rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """The input over the root of its mean square."""
    dims = tuple(range(-len(normalized_shape), 0))
    added = torch.finfo(input.dtype).eps if eps is None else eps
    normed = input * (input.square().mean(dims, keepdim=True) + added).rsqrt()
    return normed if weight is None else normed * weight


def open_normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: None = None) -> Tensor:
    """The input over its Euclidean length."""
    if p != 2:
        raise ModelCannot("DeepLIFT has no rule for F.normalize with p other than 2.")
    least = max(eps**2, torch.finfo(input.dtype).tiny)  # in float16 eps squared would be 0
    return input * (input.square().sum(dim, keepdim=True) + least).rsqrt()


@dataclass(frozen=True, eq=False)
class MultiHeadCall:
    """The arguments of `F.multi_head_attention_forward`."""

    query: Tensor
    key: Tensor
    value: Tensor
    embed_dim_to_check: int
    num_heads: int
    in_proj_weight: Tensor | None
    in_proj_bias: Tensor | None
    bias_k: Tensor | None
    bias_v: Tensor | None
    add_zero_attn: bool
    dropout_p: float
    out_proj_weight: Tensor
    out_proj_bias: Tensor | None
    training: bool = True
    key_padding_mask: Tensor | None = None
    need_weights: bool = True
    attn_mask: Tensor | None = None
    use_separate_proj_weight: bool = False
    q_proj_weight: Tensor | None = None
    k_proj_weight: Tensor | None = None
    v_proj_weight: Tensor | None = None
    static_k: Tensor | None = None
    static_v: Tensor | None = None
    average_attn_weights: bool = True
    is_causal: bool = False

    @property
    def adds_keys(self) -> bool:
        """Whether there are extra keys, which belong to no piece."""
        extras = (self.bias_k, self.bias_v, self.static_k, self.static_v)
        return self.add_zero_attn or any(extra is not None for extra in extras)

    @property
    def is_single(self) -> bool:
        """Whether the inputs are one row, without a dimension for examples."""
        return self.query.ndim == 2

    def projected(self) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values, [example head position width] each."""
        states = (self.query, self.key, self.value)
        if self.is_single:
            states = (self.query[:, None], self.key[:, None], self.value[:, None])
        biases = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        queries, keys, values = (
            F.linear(state.transpose(0, 1), weight, bias).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for state, weight, bias in zip(states, self._projections(), biases, strict=True)
        )
        return queries, keys, values

    def _projections(self) -> tuple[Tensor, ...]:
        """The weights of queries, keys and values."""
        if self.in_proj_weight is not None and not self.use_separate_proj_weight:
            return self.in_proj_weight.chunk(3)
        separate = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        return tuple(weight for weight in separate if weight is not None)

    def mask(self, queries: Tensor) -> Tensor | None:
        """[example head query key] to be added to the scores, from masks in which True hides a key."""
        parts = []
        if self.key_padding_mask is not None:
            parts.append(_as_numbers(self.key_padding_mask, queries)[..., None, None, :])
        if self.attn_mask is not None:
            added = _as_numbers(self.attn_mask, queries)
            parts.append(added if added.ndim == 2 else added.unflatten(0, (-1, queries.shape[1])))
        return None if not parts else sum(parts[1:], parts[0])


def multi_head_attention(*args: Any, **kwargs: Any) -> tuple[Tensor, None]:
    """`F.multi_head_attention_forward`, [position example width]; it returns no weights."""
    call = MultiHeadCall(*args, **kwargs)
    if call.adds_keys:
        raise ModelCannot("Relevance has no rule for attention with added keys (bias_k, add_zero_attn, static_k).")
    queries, keys, values = call.projected()
    mixed = F.scaled_dot_product_attention(queries, keys, values, attn_mask=call.mask(queries))
    joined = mixed.transpose(1, 2).flatten(2)
    output = F.linear(joined, call.out_proj_weight, call.out_proj_bias).transpose(0, 1)
    return output[:, 0] if call.is_single else output, None


def _as_numbers(mask: Tensor, like: Tensor) -> Tensor:
    """A mask as numbers to add: 0 where a key may be read, a very low one where it is hidden."""
    if mask.dtype != torch.bool:
        return mask.to(like.dtype)
    return torch.zeros_like(mask, dtype=like.dtype).masked_fill(mask, torch.finfo(like.dtype).min / 4)


OPENED: dict[Callable[..., Any], Callable[..., Any]] = {F.multi_head_attention_forward: multi_head_attention}


# One call of a torch function, as a rule gets it.


@dataclass(frozen=True, eq=False)
class FunctionCall:
    """A torch function with its arguments and its keyword arguments; their types are those of the function."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def value(self) -> Any:
        """What the function returns."""
        return self.function(*self.args, **self.kwargs)

    def value_at(self, *args: object) -> Any:
        """What the function returns for other arguments and the same keyword arguments."""
        return self.function(*args, **self.kwargs)

    def without(self, name: str) -> "FunctionCall":
        """The call without a keyword argument, if it has that one."""
        named = {key: value for key, value in self.kwargs.items() if key != name}
        return FunctionCall(self.function, self.args, named)

    def argument(self, name: str, position: int) -> Any:
        """The argument of that name, which may stand at this position instead; None where the call has none."""
        if name in self.kwargs:
            return self.kwargs[name]
        return self.args[position] if position < len(self.args) else None

    @property
    def paths(self) -> list[Tensor]:
        """The arguments that depend on the words: relevance can go back through them."""
        return [arg for arg in flat((*self.args, *self.kwargs.values())) if depends_on_words(arg)]


def depends_on_words(arg: object) -> bool:
    """Whether relevance can go back through an argument: weights are constants here, so only the words have
    gradients.
    """
    return isinstance(arg, Tensor) and arg.requires_grad


def flat(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments without lists around them; einsum and cat may take theirs in a list."""
    return tuple(part for arg in args for part in (arg if isinstance(arg, list | tuple) else (arg,)))
