"""Linear and convolutional layers in one form: a map of the input by a constant weight, plus a bias."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from pellucid.relevance.function_call import FunctionCall


@dataclass(frozen=True)
class Affine:
    """apply(input, weight) + bias. bias: broadcasts to the output."""

    input: Tensor
    weight: Tensor
    bias: Tensor | None
    apply: Callable[[Tensor, Tensor], Tensor]

    @staticmethod
    def of(call: FunctionCall) -> "Affine | None":
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
    convolve: Callable = F.conv1d if weight.ndim == 3 else F.conv2d
    per_channel = None if bias is None else bias.reshape(-1, *[1] * (weight.ndim - 2))
    return Affine(input, weight, per_channel, lambda x, w: convolve(x, w, None, *geometry, **named_geometry))


_FORMS: dict[Callable, Callable[..., Affine]] = {
    F.linear: _linear,
    torch.addmm: _addmm,
    **dict.fromkeys((F.conv1d, F.conv2d, torch.conv1d, torch.conv2d), _convolution),
}
