"""Every threshold that depends on the number type in which a model computes.

Sixteen-bit types are much coarser than float32: in float16 1e-30 is 0 and no sum exceeds 65,504; in bfloat16 two
neighbouring numbers differ by 0.8 %. So methods compute in float32 at least, and how much counts as rounding depends on
the type in which the model computed.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

# How far a pass that we explain may be from the model's own answer, relative to the answer.
TOLERANCE = {torch.float64: 1e-4, torch.float32: 1e-4, torch.bfloat16: 5e-2, torch.float16: 1e-2}
SHORT = (torch.float16, torch.bfloat16)


def number_type(model: object, dtype: torch.dtype) -> torch.dtype:
    """The shortest type in which the model computes; it may be shorter than the type in which it answers."""
    return getattr(model, "computes_in", None) or dtype


def tolerance(model: object, dtype: torch.dtype) -> float:
    """The largest residual allowed between two passes of the model that should agree; dtype: of its answers."""
    return TOLERANCE[number_type(model, dtype)]


def widened(values: Tensor) -> Tensor:
    """The same numbers in float32 at least."""
    return values.to(torch.promote_types(values.dtype, torch.float32))


def resolution(dtype: torch.dtype, least: float) -> float:
    """A sum below this share of its terms' size may be nothing but rounding: one step of the type, and at least `least`."""
    return max(least, torch.finfo(dtype).eps)


def rounding(dtype: torch.dtype) -> float:
    """How large rounding may be, relative to 1, after a whole pass: half of the type's digits are lost."""
    return torch.finfo(dtype).eps ** 0.5


def quotient(above: Tensor, below: Tensor) -> Tensor:
    """above / below for below >= 0; 0 where below is 0 or too small to divide by."""
    above, below = widened(above), widened(below)
    least = torch.finfo(below.dtype).tiny
    return torch.where(below >= least, above / below.clamp_min(least), 0.0)


def is_short(network: nn.Module) -> bool:
    """Whether some of the network's weights have sixteen bits."""
    return any(parameter.dtype in SHORT for parameter in network.parameters())


class InFloat32(TorchFunctionMode):
    """While active, every function gets float32 instead of sixteen-bit tensors, so every network answers in float32.

    It serves trials whose outcome rounding would hide. Weights are widened one call at a time: the network itself stays as
    it is, also for other threads, and nothing of its size is copied.
    """

    def __torch_function__(
        self, func: Callable, types: object, args: tuple = (), kwargs: dict | None = None
    ) -> object:
        kwargs = kwargs or {}
        if getattr(func, "__name__", "") == "__get__":  # an attribute: nothing to compute
            return _wide_type(func(*args, **kwargs))
        if func is not F.embedding:  # a look-up is exact, and its weights are the largest
            args, kwargs = tree_map(_wide, args), tree_map(_wide, kwargs)
        return tree_map(_wide, func(*args, **kwargs))


def _wide(value: object) -> object:
    if isinstance(value, Tensor):
        return value.float() if value.dtype in SHORT else value
    return _wide_type(value)


def _wide_type(value: object) -> object:
    return torch.float32 if isinstance(value, torch.dtype) and value in SHORT else value
