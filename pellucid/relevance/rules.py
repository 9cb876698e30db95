"""Rules that several policies share: each takes one function call and gives its value with a changed backward.

A rule is called with the mode, the function and its arguments, of which at least one depends on the words. Relevance at a
tensor is gradient x tensor, so a rule changes the gradient; the values stay as they are.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from pellucid.relevance.affine import Affine
from pellucid.relevance.expanded_functions import LayerNormCall
from pellucid.relevance.mode import ChangedBackward, Rules, paths

Kwargs = dict[str, Any]


def constant(mode: ChangedBackward, func: Callable, args: tuple, kwargs: Kwargs) -> Tensor:
    """The value as a constant factor: no relevance goes back."""
    return func(*args, **kwargs).detach()


def ratio(mode: ChangedBackward, func: Callable, args: tuple, kwargs: Kwargs) -> Tensor:
    """y as (y / x) x, where y / x is a constant: relevance passes through unchanged."""
    path, *rest = args
    return times_ratio(path, func(path.detach(), *rest, **kwargs))


def times_ratio(path: Tensor, value: Tensor) -> Tensor:
    """The value, as path times a constant; the path must be finite."""
    return path * torch.where(path == 0, 0.0, value / path).detach()


def activation(mode: ChangedBackward, func: Callable, args: tuple, kwargs: Kwargs) -> Tensor:
    """The same for y - f(0), the part that depends on x; f(0), which is not 0 for a sigmoid, is a constant with its share."""
    path, *rest = args
    kwargs = {name: value for name, value in kwargs.items() if name != "inplace"}
    offset = func(path.new_zeros(()), *rest, **kwargs)
    if not offset:
        return times_ratio(path, func(path.detach(), *rest, **kwargs))
    value = func(path.detach().clone(), *rest, **kwargs)
    path = path.masked_fill(path.isinf(), 1.0)  # a masked position: exp(-inf) is a constant
    return mode.ledger.note(times_ratio(path, value - offset) + offset, offset)


def power(mode: ChangedBackward, func: Callable, args: tuple, kwargs: Kwargs) -> Tensor:
    """A constant positive power passes relevance on as an activation does; a negative one is a constant, as an inverse is."""
    exponent = args[1] if len(args) > 1 else kwargs["exponent"]
    if isinstance(exponent, Tensor):
        return func(*args, **kwargs)
    return ratio(mode, func, args, kwargs) if exponent > 0 else constant(mode, func, args, kwargs)


def layer_norm(mode: ChangedBackward, func: Callable, args: tuple, kwargs: Kwargs) -> Tensor:
    """The deviation is a constant; subtracting the mean is linear."""
    call = LayerNormCall(*args, **kwargs)
    centred = call.centred
    scale = (centred.detach().square().mean(call.dims, keepdim=True) + call.eps).rsqrt()
    output = centred * (scale if call.weight is None else scale * call.weight)
    return output if call.bias is None else mode.ledger.note(output + call.bias, call.bias)


def affine(mode: ChangedBackward, func: Callable, args: tuple, kwargs: Kwargs) -> Tensor:
    """Terms that do not depend on the words keep their share; the other terms share in proportion."""
    if all(arg.requires_grad if isinstance(arg, Tensor) else not arg for arg in args):
        return func(*args, **kwargs)
    own = func(*(torch.zeros_like(arg) if _depends_on_words(arg) else arg for arg in args), **kwargs)
    return mode.ledger.note(func(*args, **kwargs), own)


def _depends_on_words(arg: Any) -> bool:
    return isinstance(arg, Tensor) and arg.requires_grad


def join(mode: ChangedBackward, func: Callable, args: tuple, kwargs: Kwargs) -> Tensor:
    """Parts that do not depend on the words keep their share."""
    output = func(*args, **kwargs)
    parts, *rest = args or (kwargs["tensors"],)
    if all(part.requires_grad for part in parts):
        return output
    named = {name: value for name, value in kwargs.items() if name != "tensors"}
    own = func([torch.zeros_like(part) if part.requires_grad else part for part in parts], *rest, **named)
    return mode.ledger.note(output, own)


def linear(mode: ChangedBackward, func: Callable, args: tuple, kwargs: Kwargs) -> Tensor:
    """LRP-0: inputs share in proportion to their contributions, and the bias keeps its own share."""
    layer = Affine.of(func, args, kwargs)
    output = func(*args, **kwargs)
    if layer is None:  # a product of two factors that depend on the words
        return halved(output)
    return output if layer.bias is None else mode.ledger.note(output, layer.bias)


def product(mode: ChangedBackward, func: Callable, args: tuple, kwargs: Kwargs) -> Tensor:
    """A product of two factors that depend on the words gives half of its relevance to each."""
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
    """A gated linear unit, computed as a product."""
    signal, gate_input = args[0].chunk(2, *(args[1:] or kwargs.values() or (-1,)))
    with mode:
        return signal * torch.sigmoid(gate_input)


def gate(mode: ChangedBackward, func: Callable, args: tuple, kwargs: Kwargs) -> Tensor:
    """In a product of a recurrent gate and a signal, the signal gets all relevance (Arras et al. 2017)."""
    gate_value, signal = args
    return func(gate_value.detach(), signal)


def weights_constant(mode: ChangedBackward, func: Callable, args: tuple, kwargs: Kwargs) -> Tensor:
    """Fused attention with constant weights: relevance goes to the values alone."""

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
