"""One linear layer by oneDNN, through operators of PyTorch that are not public: so they are tried before they are
used.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any
from weakref import ref

import torch
from torch import Tensor
from torch.nn import functional as F

from pellucid.base.torch_state import checksum

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
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported()) and all(_is_right_rounded(*sizes) for sizes in TRIED)
    except Exception:  # a private operator may fail in any way, and nothing is lost with it
        return False


def has_bfloat16_units(device: torch.device) -> bool:
    """Whether products of bfloat16 run in hardware here; without it oneDNN computes them by float32, and slowly."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported()
    return device.type == "cpu" and (torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def lacks_product() -> str:
    """Why oneDNN's products cannot be used here, in words; "" where they can."""
    if not torch.backends.mkldnn.is_available() or not torch.backends.mkldnn.enabled:
        return "this PyTorch has no oneDNN, or it is switched off"
    return _lacks_operators()


@cache
def _lacks_operators() -> str:
    """Tried once a process: an operator that is missing, takes other arguments or computes something else is not
    used.
    """
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
            (linear_product(inputs, packed(weight), each), F.linear(inputs, weight, each)) for each in (bias, None)
        ]
    return all(bool((ours - theirs).abs().max() <= STEP * theirs.abs().max()) for ours, theirs in pairs)


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
        theirs is None or bool((ours - theirs).abs().max() <= NEAR * theirs.abs().max()) for ours, theirs in pairs
    )


# The peak of the processor: what one large product in float32 gets through.

LARGE = 1536  # rows, inputs and outputs of that product
REPETITIONS = 7


def peaks() -> dict[str, float]:
    """The best billions of operations a second of one large product, by each way to multiply that is here, for the
    threads in use.
    """
    ways = {"torch": _by_torch} if lacks_product() else {"torch": _by_torch, "onednn": _by_onednn}
    with torch.inference_mode(False), torch.no_grad():
        return {name: best_of(way, LARGE) for name, way in ways.items()}


def best_of(way: Callable[[Tensor, Tensor], Callable[[], Tensor]], size: int) -> float:
    """The fastest of several repetitions, after one that does not count."""
    product = way(torch.ones(size, size), torch.ones(size, size))
    product()
    seconds = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        product()
        seconds.append(time.perf_counter() - start)
    return 2 * size**3 / min(seconds) / 1e9


def _by_torch(inputs: Tensor, weight: Tensor) -> Callable[[], Tensor]:
    return lambda: F.linear(inputs, weight)


def _by_onednn(inputs: Tensor, weight: Tensor) -> Callable[[], Tensor]:
    in_order = packed(weight)
    return lambda: linear_product(inputs, in_order)


# Weights in the order in which a route reads them, each made anew after its weight has changed in any way.


@dataclass(frozen=True)
class _Packed:
    """weight: the weight itself, so that a number that a later object has got again is not taken for it."""

    weight: "ref[Tensor]"
    state: tuple[int, int]
    copy: Tensor


class PackedWeights:
    """The packed copies of a network's weights; they live as long as their weights."""

    def __init__(self) -> None:
        self._by_id: dict[tuple[int, torch.dtype], _Packed] = {}
        self._changing = threading.Lock()

    def __len__(self) -> int:
        return len(self._by_id)

    def copy_of(self, weight: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
        """The packed copy of a weight as it is now. dtype: of the copy."""
        # Torch does not count the changes that fused optimizers, `.data` and numpy make; a sum of all bytes notices
        # these.
        state, key = (weight.data_ptr(), checksum(weight)), (id(weight), dtype)
        entry = self._by_id.get(key)
        if entry is not None and entry.weight() is weight and entry.state == state:
            return entry.copy
        copy = packed(weight.detach().to(dtype))
        # By a weak reference: else a route that nobody uses would live until Python looks for cycles. The function is
        # bound, since at the end of a process a module's names may be gone before its weights.
        forget = partial(_forget, ref(self), key)
        with self._changing:
            self._by_id[key] = _Packed(ref(weight, forget), state, copy)
        return copy


def _forget(owner: "ref[PackedWeights]", key: tuple[int, torch.dtype], weight: object) -> None:
    """Drop the copy of a weight that is no more."""
    weights = owner()
    if weights is not None:
        weights._by_id.pop(key, None)


# Linear layers whose forward and backward products are computed by oneDNN, as nodes of PyTorch's graph.

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
