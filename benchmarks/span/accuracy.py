"""How far float32 is from the formulation that holds every span in float64: of the whole layer, and of the spans alone.

The spans alone start from the same a, c, p and u; the whole layer adds what its matrix products round.
"""

import torch
from torch import Tensor
from torch.nn.functional import linear

from benchmarks.span.layer import Shape, inputs_of, step
from pellucid.models.span_kernel.kernel import span_attention_scores

# b3 is added and subtracted: it has no gradient.
LAYER = ("pooled", "concentration", "hidden", "W1", "W2", "W3", "W4", "b1", "b2", "b4", "u")
SPANS = ("pooled", "weights", "a", "c", "p", "u")
SPREAD = 4  # scores four times as spread as a fresh layer's
Errors = dict[str, dict[str, float]]


def errors(shape: Shape, routes: list[str]) -> dict[str, Errors]:
    """Largest difference over largest value, by part, route and result."""
    runs = {route: (route, torch.float32) for route in [*routes, "literal"]}
    runs["tiles in float64"] = ("tiles", torch.float64)
    inputs = inputs_of(shape, spread=SPREAD)
    truth = _layer("literal", inputs, torch.float64)
    layers = {name: _relative(_layer(route, inputs, dtype), truth) for name, (route, dtype) in runs.items()}
    hidden, w, b, u = inputs
    folded = [
        linear(hidden, w[0] + w[2], b[0]),
        linear(hidden, w[1] - w[2], b[1]),
        linear(hidden, w[3], b[3]),
        u,
    ]
    truth = _spans("tiles", folded, torch.float64)
    spans = {route: _relative(_spans(route, folded, torch.float32), truth) for route in routes}
    return {"layer": layers, "spans": spans}


def _layer(route: str, inputs: tuple, dtype: torch.dtype) -> dict[str, Tensor]:
    def typed(value: Tensor) -> Tensor:
        return value.detach().to(dtype).requires_grad_()

    hidden, w, b, u = inputs
    ready = typed(hidden), [typed(value) for value in w], [typed(value) for value in b], typed(u)
    values = step(route, ready)
    if len(values) > len(LAYER):  # the literal form has a gradient of b3, which is rounding
        del values[9]
    return dict(zip(LAYER, values, strict=True))


def _spans(route: str, folded: list[Tensor], dtype: torch.dtype) -> dict[str, Tensor]:
    values = [value.detach().to(dtype).requires_grad_() for value in folded]
    segments = torch.zeros(values[0].shape[:2], dtype=torch.long)
    scores, pooled, _ = span_attention_scores(*values, segments, route=route)
    weights = scores.flatten(1).softmax(1)
    loss = pooled.square().sum() - weights.square().sum()
    return dict(zip(SPANS, [pooled, weights, *torch.autograd.grad(loss, values)], strict=True))


def _relative(values: dict[str, Tensor], truth: dict[str, Tensor]) -> dict[str, float]:
    return {name: _largest(values[name].detach(), truth[name].detach()) for name in truth}


def _largest(value: Tensor, true: Tensor) -> float:
    return float((value.double() - true).abs().max() / true.abs().max())
