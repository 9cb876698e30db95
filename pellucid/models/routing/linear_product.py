"""One linear layer by oneDNN, through operators of PyTorch that are not public: so they are tried before they are used."""

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor
from torch.nn import functional as F

NEAR = 1e-5  # relative to the largest number of a product
STEP = 2**-7  # between two numbers of bfloat16
TRIED = ((16, 24, 40), (32, 64, 8))  # rows, inputs and outputs of the layers that are tried


def linear_product(inputs: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """[... output]: inputs [... input] times weight [output input], plus bias [output]. weight may be a packed one."""
    if bias is not None:
        bias = bias.contiguous()  # the operator reads any bias as if its numbers were neighbours
    result: Tensor = torch.ops.mkldnn._linear_pointwise.default(inputs, weight, bias, "none", [], "")
    return result


def packed(weight: Tensor) -> Tensor:
    """A copy of a weight [output input] in the order in which oneDNN reads it; only `linear_product` reads it."""
    with torch.inference_mode(False), torch.no_grad():
        result: Tensor = torch.ops.mkldnn._reorder_linear_weight.default(weight.detach())
    return result


@cache
def has_bfloat16() -> bool:
    """Whether oneDNN multiplies numbers of bfloat16 on this processor, and as PyTorch does; tried once a process."""
    try:
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported()) and all(
            _is_right_rounded(*sizes) for sizes in TRIED
        )
    except Exception:  # a private operator may fail in any way, and nothing is lost with it
        return False


def lacks_product() -> str:
    """Why oneDNN's products cannot be used here, in words; "" where they can."""
    if not torch.backends.mkldnn.is_available() or not torch.backends.mkldnn.enabled:
        return "this PyTorch has no oneDNN, or it is switched off"
    return _lacks_operators()


@cache
def _lacks_operators() -> str:
    """Tried once a process: an operator that is missing, takes other arguments or computes something else is not used."""
    try:
        right = all(_is_right(*sizes) for sizes in TRIED)
    except Exception as error:  # a private operator may fail in any way, and nothing is lost with it
        return f"this PyTorch has other operators of oneDNN ({type(error).__name__})"
    return "" if right else "oneDNN gives other products than PyTorch"


def _is_right_rounded(rows: int, n_inputs: int, n_outputs: int) -> bool:
    generator = torch.Generator().manual_seed(0)
    draw: Callable[..., Tensor] = lambda *shape: torch.randn(*shape, generator=generator).bfloat16()  # noqa: E731
    with torch.inference_mode(False), torch.no_grad():
        inputs, weight, bias = draw(rows, n_inputs), draw(n_outputs, n_inputs), draw(n_outputs)
        pairs = [
            (linear_product(inputs, packed(weight), each), F.linear(inputs, weight, each))
            for each in (bias, None)
        ]
    return all(bool((one - other).abs().max() <= STEP * other.abs().max()) for one, other in pairs)


def _is_right(rows: int, n_inputs: int, n_outputs: int) -> bool:
    generator = torch.Generator().manual_seed(0)
    draw: Callable[..., Tensor] = lambda *shape: torch.randn(*shape, generator=generator)  # noqa: E731
    with torch.inference_mode(False), torch.no_grad():
        inputs, weight, bias = draw(2, rows, n_inputs), draw(n_outputs, n_inputs), draw(n_outputs)
        apart = draw(n_outputs, 2)[:, 0]
        pairs = [
            (linear_product(inputs, weight, bias), F.linear(inputs, weight, bias)),
            (linear_product(inputs, packed(weight), bias), F.linear(inputs, weight, bias)),
            (linear_product(inputs, weight), F.linear(inputs, weight)),
            (linear_product(inputs, weight, apart), F.linear(inputs, weight, apart)),
            (linear_product(inputs[0], draw(n_inputs, n_outputs).t()), None),
        ]
    return all(
        other is None or bool((one - other).abs().max() <= NEAR * other.abs().max()) for one, other in pairs
    )
