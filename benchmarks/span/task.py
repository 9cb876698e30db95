"""One measurement in a process of its own: what to measure comes as JSON, and so does the answer.

python -m benchmarks.span.task '{"what": "times", "shape": [384, 8, 32], "routes": ["tiles"], "device": "cpu"}'
"""

import json
import sys
from typing import Any

import torch

from benchmarks.span import accuracy, floor, training
from benchmarks.span.layer import inputs_of, step
from benchmarks.span.measuring import milliseconds, peak_megabytes
from pellucid.models.span_kernel.kernel import span_attention_scores, stream_of
from pellucid.models.span_kernel.packs import SpanLimits

QUICK, SLOW = 200.0, 5000.0  # milliseconds; shorter steps run nine times, longer ones once


def times(shape: list[int], routes: list[str], device: str) -> dict[str, float]:
    """Milliseconds of forward and backward of the layer, by route."""
    inputs = inputs_of(tuple(shape), device)
    return {route: _time(lambda route=route: step(route, inputs), device) for route in routes}


def memory(shape: list[int], routes: list[str], device: str) -> dict[str, float]:
    """Megabytes, of one route: what a second one finds is no fresh process."""
    (route,) = routes
    step(route, inputs_of((16, 1, 8), device))  # the first call loads libraries
    inputs = inputs_of(tuple(shape), device)
    return {route: peak_megabytes(lambda: step(route, inputs), device)}


def core(shape: list[int], routes: list[str], device: str) -> dict[str, float]:
    """Nanoseconds of a span-dimension, forward and backward, without the projections."""
    width, batch, units = shape
    values = [torch.randn(batch, units, width, device=device).requires_grad_() for _ in range(3)]
    u = (torch.randn(width, device=device) / width**0.5).requires_grad_()
    segments = torch.zeros(batch, units, dtype=torch.long, device=device)

    def run(route: str) -> None:
        _, pooled, log_normaliser = span_attention_scores(*values, u, segments, route=route)
        torch.autograd.grad(pooled.square().sum() + log_normaliser.sum(), [*values, u])

    spans = batch * units * (units + 1) / 2 * width
    return {route: 1e6 * _time(lambda route=route: run(route), device) / spans for route in routes}


def narrow(shape: list[int], routes: list[str], device: str, span_width: int) -> dict[str, float]:
    """Milliseconds of the layer on unit vectors projected to `span_width`, the projection included."""
    width, batch, units = shape
    hidden = torch.randn(batch, units, width, device=device).requires_grad_()
    projection = (torch.randn(span_width, width, device=device) / width**0.5).requires_grad_()
    _, w, b, u = inputs_of((span_width, batch, units), device)

    def run(route: str) -> None:
        projected = (hidden @ projection.T).detach().requires_grad_()
        gradient = step(route, (projected, w, b, u))[2]
        torch.autograd.grad(hidden @ projection.T, [hidden, projection], gradient)

    return {route: _time(lambda route=route: run(route), device) for route in routes}


def masks(routes: list[str], device: str) -> dict[str, float]:
    """Milliseconds until a route knows which spans there are, at 8 texts of 512 units."""
    segments = torch.zeros(8, 512, dtype=torch.long, device=device)
    values = torch.empty(8, 512, 768, device=device)
    return {
        route: _time(lambda route=route: stream_of(route, values, SpanLimits(segments)), device) for route in routes
    }


def padded(routes: list[str], device: str) -> dict[str, float]:
    """Time of a batch of texts of 16 to 128 units, over that of its texts one by one."""
    lengths = [128, 112, 96, 80, 64, 48, 32, 16]
    values = [torch.randn(len(lengths), max(lengths), 384, device=device).requires_grad_() for _ in range(3)]
    u = torch.randn(384, device=device) / 384**0.5

    def run(route: str, rows: list[int], units: int) -> None:
        segments = torch.where(torch.arange(units) < torch.tensor([lengths[row] for row in rows])[:, None], 0, -1)
        some = [value[rows, :units] for value in values]
        pooled = span_attention_scores(*some, u, segments.to(device), route=route)[1]
        torch.autograd.grad(pooled.square().sum(), some)

    def alone(route: str) -> None:
        for row, length in enumerate(lengths):
            run(route, [row], length)

    everything = list(range(len(lengths)))
    return {
        route: _time(lambda route=route: run(route, everything, 128), device)
        / _time(lambda route=route: alone(route), device)
        for route in routes
    }


def _time(call: Any, device: str) -> float:
    once = milliseconds(call, 1, device)
    return once if once > SLOW else milliseconds(call, 9 if once < QUICK else 3, device, warm=False)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The requested measurement."""
    torch.set_num_threads(1)
    what = request.pop("what")
    if what == "floor":
        return floor.floors()
    if what == "errors":
        return accuracy.errors(tuple(request["shape"]), request["routes"])
    if what == "encoder":
        return {"milliseconds": training.encoder_step(request["name"], request["units"], request["runs"])}
    return MEASURES[what](**request)


MEASURES = {
    "times": times,
    "memory": memory,
    "core": core,
    "narrow": narrow,
    "masks": masks,
    "padded": padded,
}

if __name__ == "__main__":
    print(json.dumps(answer(json.loads(sys.argv[1]))))
