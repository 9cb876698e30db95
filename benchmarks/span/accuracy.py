"""How far results and gradients in float32 are from those of the formulation that holds every span, in float64."""

import torch
from torch import Tensor

from benchmarks.span.layer import Shape, inputs_of, step

# b3 is added and subtracted: it has no gradient.
NAMES = ("pooled", "concentration", "hidden", "W1", "W2", "W3", "W4", "b1", "b2", "b4", "u")
SPREAD = 4  # scores four times as spread as a fresh layer's


def errors(shape: Shape, routes: list[str]) -> dict[str, dict[str, float]]:
    """Largest difference over largest value, by route and result."""
    truth = _results("literal", shape, torch.float64)
    found = {route: _results(route, shape, torch.float32) for route in routes}
    found["tiles in float64"] = _results("tiles", shape, torch.float64)
    return {
        route: {name: _relative(values[name], truth[name]) for name in NAMES} for route, values in found.items()
    }


def _results(route: str, shape: Shape, dtype: torch.dtype) -> dict[str, Tensor]:
    inputs = inputs_of(shape, spread=SPREAD)
    typed = tuple(
        [value.detach().to(dtype).requires_grad_() for value in part]
        if isinstance(part, list)
        else part.detach().to(dtype).requires_grad_()
        for part in inputs
    )
    values = step(route, typed)
    if len(values) == len(NAMES) + 1:  # the literal form adds b3 and takes it away
        del values[9]
    return dict(zip(NAMES, values, strict=True))


def _relative(value: Tensor, truth: Tensor) -> float:
    value = value.detach()
    return float((value.double() - truth).abs().max() / truth.abs().max())
