"""Linear layers whose forward and backward products are computed by oneDNN, as nodes of PyTorch's graph."""

from typing import Any

import torch
from torch import Tensor

from pellucid.models.routing.linear_product import linear_product

Context = Any  # torch declares no attributes of it


class InputLinear(torch.autograd.Function):
    """A linear layer whose weights are constants: gradients lead to the inputs alone, and no input is stored."""

    @staticmethod
    def forward(context: Context, inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """[... output]."""
        context.save_for_backward(weight)
        return linear_product(inputs, weight, bias)

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> tuple[Tensor, None, None]:
        """The gradient by the inputs."""
        return by_inputs(gradient, context.saved_tensors[0]), None, None


class TrainedLinear(torch.autograd.Function):
    """A linear layer that is trained: gradients lead to inputs, weight and bias."""

    @staticmethod
    def forward(context: Context, inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """[... output]."""
        context.save_for_backward(inputs, weight)
        return linear_product(inputs, weight, bias)

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        """The gradients by inputs, weight and bias; None for what is not trained."""
        inputs, weight = context.saved_tensors
        of_inputs, of_weight, of_bias = context.needs_input_grad
        rows = gradient.reshape(-1, gradient.shape[-1])
        return (
            by_inputs(gradient, weight) if of_inputs else None,
            by_weight(rows, inputs.reshape(-1, inputs.shape[-1])) if of_weight else None,
            rows.sum(0) if of_bias else None,
        )


def by_inputs(gradient: Tensor, weight: Tensor) -> Tensor:
    """[... input]: gradient [... output] times weight [output input]."""
    if torch.is_grad_enabled():  # the gradient itself shall have a gradient
        return gradient @ weight
    return linear_product(gradient.contiguous(), weight.t())


def by_weight(rows: Tensor, inputs: Tensor) -> Tensor:
    """[output input]: the products of rows [row output] and inputs [row input], summed over rows."""
    if torch.is_grad_enabled():
        return rows.t() @ inputs
    return linear_product(rows.t().contiguous(), inputs.t())
