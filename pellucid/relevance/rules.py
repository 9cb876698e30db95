"""Rules that several policies share: each takes one function call and gives its value with a changed backward.

A rule is called with the mode, the function, and its arguments, at least one of which leads back to the words.
Relevance at a tensor is gradient x tensor, so a rule says what the gradient is; the values stay as they are.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from pellucid.relevance.affine import Affine
from pellucid.relevance.mode import ChangedBackward, Rules, paths

Kwargs = dict[str, Any]


def constant(mode: ChangedBackward, func: Callable, args: tuple, kwargs: Kwargs) -> Tensor:
    """No relevance goes back: what the others are multiplied with."""
    return func(*args, **kwargs).detach()


def ratio(mode: ChangedBackward, func: Callable, args: tuple, kwargs: Kwargs) -> Tensor:
    """y as (y / x) x with a constant factor: relevance passes through unchanged."""
    path, *rest = args
    return times_ratio(path, func(path.detach(), *rest, **kwargs))


def times_ratio(path: Tensor, value: Tensor) -> Tensor:
    """The value, as path times a constant; the path is finite."""
    return path * torch.where(path == 0, 0.0, value / path).detach()


def activation(mode: ChangedBackward, func: Callable, args: tuple, kwargs: Kwargs) -> Tensor:
    """Likewise for y - f(0); f(0), not 0 for a sigmoid, is a constant and keeps its share."""
    path, *rest = args
    kwargs = {name: value for name, value in kwargs.items() if name != "inplace"}
    offset = func(path.new_zeros(()), *rest, **kwargs)
    if not offset:
        return times_ratio(path, func(path.detach(), *rest, **kwargs))
    value = func(path.detach().clone(), *rest, **kwargs)
    path = path.masked_fill(path.isinf(), 1.0)  # masked: exp(-inf) is a constant
    return mode.ledger.note(times_ratio(path, value - offset) + offset, offset)


def power(mode: ChangedBackward, func: Callable, args: tuple, kwargs: Kwargs) -> Tensor:
    """A constant positive power is an activation, a negative one the inverse of something."""
    exponent = args[1] if len(args) > 1 else kwargs["exponent"]
    if isinstance(exponent, Tensor):
        return func(*args, **kwargs)
    return ratio(mode, func, args, kwargs) if exponent > 0 else constant(mode, func, args, kwargs)


def layer_norm(mode: ChangedBackward, func: Callable, args: tuple, kwargs: Kwargs) -> Tensor:
    """The deviation is a constant; taking the mean away is linear."""
    return _layer_norm(mode, *args, **kwargs)


def _layer_norm(
    mode: ChangedBackward,
    input: Tensor,
    normalized_shape: Any,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Tensor:
    dims = tuple(range(-len(normalized_shape), 0))
    centred = input - input.mean(dims, keepdim=True)
    spread = (centred.detach().square().mean(dims, keepdim=True) + eps).rsqrt()
    output = centred * (spread if weight is None else spread * weight)
    return output if bias is None else mode.ledger.note(output + bias, bias)


def affine(mode: ChangedBackward, func: Callable, args: tuple, kwargs: Kwargs) -> Tensor:
    """Terms that do not lead back keep their share; the rest of a sum is shared in proportion."""
    if all(arg.requires_grad if isinstance(arg, Tensor) else not arg for arg in args):
        return func(*args, **kwargs)
    kept = func(*(torch.zeros_like(arg) if _leads_back(arg) else arg for arg in args), **kwargs)
    return mode.ledger.note(func(*args, **kwargs), kept)


def _leads_back(arg: Any) -> bool:
    return isinstance(arg, Tensor) and arg.requires_grad


def join(mode: ChangedBackward, func: Callable, args: tuple, kwargs: Kwargs) -> Tensor:
    """Parts that do not lead back keep what is theirs."""
    output = func(*args, **kwargs)
    parts, *rest = args or (kwargs["tensors"],)
    if all(part.requires_grad for part in parts):
        return output
    named = {name: value for name, value in kwargs.items() if name != "tensors"}
    own = func([torch.zeros_like(part) if part.requires_grad else part for part in parts], *rest, **named)
    return mode.ledger.note(output, own)


def linear(mode: ChangedBackward, func: Callable, args: tuple, kwargs: Kwargs) -> Tensor:
    """LRP-0: inputs share in proportion to their contributions, the bias keeps its own."""
    layer = Affine.of(func, args, kwargs)
    output = func(*args, **kwargs)
    if layer is None:  # two factors that lead back
        return halved(output)
    return output if layer.bias is None else mode.ledger.note(output, layer.bias)


def product(mode: ChangedBackward, func: Callable, args: tuple, kwargs: Kwargs) -> Tensor:
    """Half to each side of a product of two factors that lead back."""
    output = func(*args, **kwargs)
    return halved(output) if len(paths(args, kwargs)) > 1 else output


def halved(output: Tensor) -> Tensor:
    """The same value with half the gradient."""
    return output / 2 + (output / 2).detach()


def quotient(mode: ChangedBackward, func: Callable, args: tuple, kwargs: Kwargs) -> Tensor:
    """The denominator is a constant."""
    if func is Tensor.__rtruediv__ or len(args) < 2:  # number / path
        return constant(mode, func, args, kwargs)
    above, below, *rest = args
    return func(above, below.detach() if isinstance(below, Tensor) else below, *rest, **kwargs)


def linear_unit(mode: ChangedBackward, func: Callable, args: tuple, kwargs: Kwargs) -> Tensor:
    """A gated linear unit as the product it is."""
    signal, opening = args[0].chunk(2, *(args[1:] or kwargs.values() or (-1,)))
    with mode:
        return signal * torch.sigmoid(opening)


def gate(mode: ChangedBackward, func: Callable, args: tuple, kwargs: Kwargs) -> Tensor:
    """A recurrent gate takes nothing, its signal all (Arras et al. 2017)."""
    opening, signal = args
    return func(opening.detach(), signal)


def weights_constant(mode: ChangedBackward, func: Callable, args: tuple, kwargs: Kwargs) -> Tensor:
    """Fused attention whose weights are constants: relevance goes to the values alone."""

    def attend(query: Tensor, key: Tensor, *rest: Any, **named: Any) -> Tensor:
        return func(query.detach(), key.detach(), *rest, **named)

    return attend(*args, **kwargs)


COMMON: Rules = {
    "activation": activation,
    "power": power,
    "inverse": constant,
    "layer_norm": layer_norm,
    "scaling": ratio,
    "batch_norm": affine,
    "softmax": constant,
    "attention": weights_constant,
    "linear": linear,
    "product": product,
    "quotient": quotient,
    "sum": affine,
    "join": join,
    "linear_unit": linear_unit,
    "gate": gate,
}
