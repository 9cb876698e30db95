"""Rules that several policies share: each takes one function call and gives its value with a changed backward.

A rule is called with the mode and the function call, of which at least one argument depends on the words. Relevance
at a tensor is gradient x tensor, so a rule changes the gradient; the values stay as they are.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from pellucid.attribution.backward.expanded_functions import FunctionCall, LayerNormCall, depends_on_words
from pellucid.attribution.backward.mode import ChangedBackward, Rules


def constant(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """The value as a constant factor: no relevance goes back."""
    return call.value().detach()


def ratio(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """y as (y / x) x, where y / x is a constant: relevance passes through unchanged."""
    path, *rest = call.args
    return times_ratio(path, call.value_at(path.detach(), *rest))


def times_ratio(path: Tensor, value: Tensor) -> Tensor:
    """The value, as path times a constant; the path must be finite."""
    return path * torch.where(path == 0, 0.0, value / path).detach()


def activation(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """Relevance of y - f(0) passes through unchanged; the constant f(0), which is not 0 for a sigmoid, keeps its
    share.
    """
    call = call.without("inplace")
    path, *rest = call.args
    offset = call.value_at(path.new_zeros(()), *rest)
    if not offset:
        return times_ratio(path, call.value_at(path.detach(), *rest))
    value = call.value_at(path.detach().clone(), *rest)
    path = path.masked_fill(path.isinf(), 1.0)  # a masked position: exp(-inf) is a constant
    return mode.ledger.note(times_ratio(path, value - offset) + offset, offset)


def power(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """A constant positive power passes relevance on as an activation does; a negative one is a constant, as an inverse
    is.
    """
    exponent = call.argument("exponent", 1)
    if isinstance(exponent, Tensor):
        return call.value()
    return ratio(mode, call) if exponent > 0 else constant(mode, call)


def layer_norm(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """The deviation is a constant; subtracting the mean is linear."""
    norm = LayerNormCall(*call.args, **call.kwargs)
    centred = norm.centred
    scale = (centred.detach().square().mean(norm.dims, keepdim=True) + norm.eps).rsqrt()
    output = centred * (scale if norm.weight is None else scale * norm.weight)
    return output if norm.bias is None else mode.ledger.note(output + norm.bias, norm.bias)


def affine(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """Terms that do not depend on the words keep their share; the other terms share in proportion."""
    if all(arg.requires_grad if isinstance(arg, Tensor) else not arg for arg in call.args):
        return call.value()
    constant_output = call.value_at(*(torch.zeros_like(arg) if depends_on_words(arg) else arg for arg in call.args))
    return mode.ledger.note(call.value(), constant_output)


def join(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """Parts that do not depend on the words keep their share."""
    output = call.value()
    parts, *rest = call.args or (call.kwargs["tensors"],)
    if all(part.requires_grad for part in parts):
        return output
    constants = [torch.zeros_like(part) if part.requires_grad else part for part in parts]
    constant_output = call.without("tensors").value_at(constants, *rest)
    return mode.ledger.note(output, constant_output)


def linear(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """LRP-0: inputs share in proportion to their contributions, and the bias keeps its own share."""
    layer = Affine.from_call(call)
    output = call.value()
    if layer is None:  # a product of two factors that depend on the words
        return halved(output)
    return output if layer.bias is None else mode.ledger.note(output, layer.bias)


def product(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """A product of two factors that depend on the words gives half of its relevance to each."""
    output = call.value()
    return halved(output) if len(call.paths) > 1 else output


def halved(output: Tensor) -> Tensor:
    """The same value with half the gradient."""
    return output / 2 + (output / 2).detach()


def quotient(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """The denominator is a constant."""
    if call.function is Tensor.__rtruediv__ or len(call.args) < 2:  # number / path
        return constant(mode, call)
    above, below, *rest = call.args
    return call.value_at(above, below.detach() if isinstance(below, Tensor) else below, *rest)


def linear_unit(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """A gated linear unit, computed as a product."""
    signal, gate_input = call.args[0].chunk(2, *(call.args[1:] or call.kwargs.values() or (-1,)))
    with mode:
        return signal * torch.sigmoid(gate_input)


def gate(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """In a product of a recurrent gate and a signal, the signal gets all relevance (Arras et al. 2017)."""
    gate_value, signal = call.args
    return call.function(gate_value.detach(), signal)


def weights_constant(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """Fused attention with constant weights: relevance goes to the values alone."""

    def attend(query: Tensor, key: Tensor, *rest: object, **named: object) -> Tensor:
        return call.function(query.detach(), key.detach(), *rest, **named)

    return attend(*call.args, **call.kwargs)


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


# Linear and convolutional layers in one form: a map of the input by a constant weight, plus a bias.


@dataclass(frozen=True)
class Affine:
    """apply(input, weight) + bias. bias: broadcasts to the output."""

    input: Tensor
    weight: Tensor
    bias: Tensor | None
    apply: Callable[[Tensor, Tensor], Tensor]

    @staticmethod
    def from_call(call: FunctionCall) -> "Affine | None":
        """What a call computes; None where its weight depends on the words too, so that the call is a product."""
        layer = _FORMS[call.function](*call.args, **call.kwargs)
        return None if layer.weight.requires_grad else layer


def _linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Affine:
    return Affine(input, weight, bias, F.linear)


def _addmm(bias: Tensor, input: Tensor, weight: Tensor) -> Affine:
    return Affine(input, weight, bias, torch.mm)


def _convolution(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, *geometry: object, **named_geometry: object
) -> Affine:
    convolve: Callable[..., Any] = F.conv1d if weight.ndim == 3 else F.conv2d
    per_channel = None if bias is None else bias.reshape(-1, *[1] * (weight.ndim - 2))
    return Affine(input, weight, per_channel, lambda x, w: convolve(x, w, None, *geometry, **named_geometry))


_FORMS: dict[Callable[..., Any], Callable[..., Affine]] = {
    F.linear: _linear,
    torch.addmm: _addmm,
    **dict.fromkeys((F.conv1d, F.conv2d, torch.conv1d, torch.conv2d), _convolution),
}
