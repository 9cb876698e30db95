"""Every threshold that depends on the number type in which a model computes.

Sixteen-bit types are much coarser than float32: in float16 1e-30 is 0 and no sum exceeds 65,504; in bfloat16 two
neighbouring numbers differ by 0.8 %. So methods compute in float32 at least, and how much counts as rounding depends on
the type in which the model computed.
"""

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

from pellucid.base.torch_contexts import without_autocast

# How far a pass that we explain may be from the model's own answer, relative to the answer.
TOLERANCE = {torch.float64: 1e-4, torch.float32: 1e-4, torch.bfloat16: 5e-2, torch.float16: 1e-2}
SHORT = (torch.float16, torch.bfloat16)


def coarsest(dtypes: Iterable[torch.dtype]) -> torch.dtype:
    """Of several number types the one with the largest steps."""
    return max(dtypes, key=lambda dtype: torch.finfo(dtype).eps)


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


class InWiderNumbers(TorchFunctionMode):
    """While active, every function gets float32 instead of sixteen-bit tensors, or float64 instead of both; autocast rounds nothing.

    It serves trials whose outcome rounding would hide, and the end of a pass whose answers are subtracted. Weights are widened one
    call at a time: the network itself stays as it is, also for other threads, and nothing of its size is copied.
    """

    def __init__(self, wide: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.wide = wide
        self.narrow = (*SHORT, torch.float32) if wide == torch.float64 else SHORT

    def __torch_function__(
        self, func: Callable, types: object, args: tuple = (), kwargs: dict | None = None
    ) -> object:
        kwargs = kwargs or {}
        if getattr(func, "__name__", "") == "__get__":  # an attribute: nothing to compute
            return self._wide_type(func(*args, **kwargs))
        if func is not F.embedding:  # a look-up is exact, and its weights are the largest
            args, kwargs = tree_map(self._wide, args), tree_map(self._wide, kwargs)
        with without_autocast():
            return tree_map(self._wide, func(*args, **kwargs))

    def _wide(self, value: object) -> object:
        if isinstance(value, Tensor):
            return value.to(self.wide) if value.dtype in self.narrow else value
        return self._wide_type(value)

    def _wide_type(self, value: object) -> object:
        return self.wide if isinstance(value, torch.dtype) and value in self.narrow else value
