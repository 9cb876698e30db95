"""What a number type can tell apart: every threshold that depends on one, in one place.

Sixteen-bit types end where float32 has room left: 1e-30 is 0 in float16, sums end at 65,504, and a relative step is
0.8 % in bfloat16. So methods count in float32 at least, and what passes for rounding follows the type in which the
model computed.
"""

from typing import Any

import torch
from torch import Tensor

# How far a pass that is explained may be from the model's own answer, relative to the answer.
TOLERANCE = {torch.float64: 1e-4, torch.float32: 1e-4, torch.bfloat16: 5e-2, torch.float16: 1e-2}
SHORT = (torch.float16, torch.bfloat16)


def number_type(model: Any, dtype: torch.dtype) -> torch.dtype:
    """The shortest type in which the model computes; it may be shorter than the type in which it answers."""
    return getattr(model, "computes_in", None) or dtype


def tolerance(model: Any, dtype: torch.dtype) -> float:
    """What is allowed between two passes of the model that should agree; dtype: that of its answers."""
    return TOLERANCE[number_type(model, dtype)]


def widened(values: Tensor) -> Tensor:
    """The same numbers in float32 at least, in which methods count."""
    return values.to(torch.promote_types(values.dtype, torch.float32))


def rounding(dtype: torch.dtype) -> float:
    """What may be rounding beside 1 where it went through a whole pass: half of the type's digits."""
    return torch.finfo(dtype).eps ** 0.5


def quotient(above: Tensor, below: Tensor) -> Tensor:
    """above / below for below >= 0; 0 where below is 0 or too small to divide by."""
    above, below = widened(above), widened(below)
    least = torch.finfo(below.dtype).tiny
    return torch.where(below >= least, above / below.clamp_min(least), 0.0)
