"""Span attention without the tensor of spans: exact, streamed, by the fastest route that is at hand.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models". Equation 6 gives the vector of the span
from unit i to unit j. With W3 folded into W1 (giving a) and into W2 (giving c), and p = W4 h, it reads

    t_ij = tanh(a_i + c_j + p_i * p_j),    o_ij = u . t_ij,
    alpha = softmax of o over the legal spans,    pooled = sum of alpha_ij t_ij    (equations 4 and 3).

Where we leave the paper and its code:

- equation 4 divides raw scores; like the released code we take the softmax;
- equation 6 splits W4 (h_i * h_j) into two square roots, true only of a diagonal W4; like the released code
  we use (W4 h_i) * (W4 h_j);
- the released code has every t_ij in memory at once, several times. Here only some are in memory at a time and
  the backward pass computes them again: memory grows with units x units, not with units x units x width;
- illegal spans score minus infinity, and most are never computed; the code subtracts a million from each.

Three routes compute the same: "tiles" in plain PyTorch, everywhere; "numba" on a CPU in float32; "triton" on CUDA
in float32. "auto" takes one of the last two where it is installed and fits, and the texts are long enough to gain by
it.
"""

from functools import cache
from os import environ
from shutil import which
from typing import Literal, get_args

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from pellucid.base.checks import at_least, one_of
from pellucid.base.errors import BadInput, BadSetting, MissingPackage
from pellucid.base.packages import optional_package
from pellucid.models.span_kernel.packs import Arriving, Scoring, SpanLimits, Stream
from pellucid.models.span_kernel.tile_route import Tiles

Route = Literal["auto", "tiles", "numba", "triton"]
SHORT = 16  # units; loading numba and its compiled loops takes longer than hundreds of such texts take by tiles


def span_attention_scores(
    a: Tensor,
    c: Tensor,
    p: Tensor,
    u: Tensor,
    segments: Tensor,
    *,
    max_width: int | None = None,
    latest_start: Tensor | None = None,
    route: Route = "auto",
) -> tuple[Tensor, Tensor, Tensor]:
    """Scores o [batch, unit, unit], pooled vectors [batch, width], log-normalisers [batch] of span attention.

    a, c, p: [batch, unit, width]; u: [width]; segments, max_width, latest_start: see `legal_spans`. All three results
    have gradients.
    The weights are `(scores - log_normaliser[:, None, None]).exp()`, 0 outside the legal spans.
    Half precision is computed in float32: pooled returns to the type of a, the other two stay in float32.
    An example without a legal span gets pooled 0 and log-normaliser minus infinity; the caller may refuse it.
    route: see the top of the file; one that cannot compute these tensors raises `BadSetting`, or `MissingPackage`.
    """
    limits = SpanLimits(segments, max_width, latest_start)
    _check(a, c, p, limits)
    if u.shape != a.shape[-1:]:
        raise BadInput(f"u must have shape (width,)={tuple(a.shape[-1:])}. Got {tuple(u.shape)}.")
    with _full_precision(a):
        inputs = _one_type(a, c, p, u)
        stream = stream_of(route, inputs[0], limits)
        scores, pooled, log_normaliser = _SpanAttention.apply(*inputs, stream)
    return scores, pooled.to(a.dtype), log_normaliser


def span_average(
    a: Tensor,
    c: Tensor,
    p: Tensor,
    log_weights: Tensor,
    segments: Tensor,
    *,
    max_width: int | None = None,
    latest_start: Tensor | None = None,
    route: Route = "auto",
) -> Tensor:
    """Sum of t_ij under constant weights, [batch, width]: the paper's AvgSelf-Explaining where they are uniform.

    log_weights: [batch, unit, unit], read at legal spans only; they need not sum to 1, and have no gradient.
    route: as in `span_attention_scores`.
    """
    limits = SpanLimits(segments, max_width, latest_start)
    _check(a, c, p, limits)
    square = (*segments.shape, segments.shape[1])
    if log_weights.shape != square:
        got = tuple(log_weights.shape)
        raise BadInput(f"log_weights must have shape (batch, unit, unit)={square}. Got {got}.")
    with _full_precision(a):
        inputs = _one_type(a, c, p, log_weights.detach())
        stream = stream_of(route, inputs[0], limits)
        pooled = _SpanAverage.apply(*inputs, stream)
    return pooled.to(a.dtype)


def route_for(a: Tensor) -> str:
    """The route that "auto" takes for tensors [batch, unit, width] of this type on this device.

    It follows from the tensor alone, not from what was loaded before, so equal texts get equal bits.
    """
    if a.dtype == torch.float32:
        # Triton builds its launcher with a C compiler.
        if a.device.type == "cuda" and (which("gcc") or which("clang") or "CC" in environ) and _there("triton"):
            return "triton"
        if a.device.type == "cpu" and a.shape[1] > SHORT and _there("numba"):
            return "numba"
    return "tiles"


@cache
def _there(package: str) -> bool:
    try:
        optional_package(package)
    except MissingPackage:  # also one that refuses the libraries beside it
        return False
    return True


def stream_of(route: str, a: Tensor, limits: SpanLimits) -> Stream:
    """The batch's spans, ready to be streamed by this route."""
    one_of("route", route, get_args(Route))
    route = route_for(a) if route == "auto" else route
    limits = limits.to(a.device)
    if route == "tiles":
        return Tiles(limits, a.shape[-1])
    if a.dtype != torch.float32:
        raise BadSetting(f"route={route!r} computes in float32. Got {a.dtype}; give route='tiles' or 'auto'.")
    device = {"numba": "cpu", "triton": "cuda"}[route]
    # Triton's interpreter, which is for tests, takes any device.
    if a.device.type != device and not (route == "triton" and environ.get("TRITON_INTERPRET") == "1"):
        raise BadSetting(f"route={route!r} needs tensors on {device}. Got {a.device}; give route='tiles' or 'auto'.")
    if route == "numba":
        from pellucid.models.span_kernel.numba_route import Loops

        return Loops(limits)
    from pellucid.models.span_kernel.triton_route import Programs

    return Programs(limits)


class _SpanAttention(Function):
    @staticmethod
    def forward(ctx, a, c, p, u, stream):
        scores, pooled, log_normaliser = stream.attend(a, c, p, u)
        ctx.save_for_backward(a, c, p, u, scores, pooled, log_normaliser)
        ctx.stream = stream
        return scores, pooled.to(a.dtype), log_normaliser.to(a.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_scores, grad_pooled, grad_log_normaliser):
        a, c, p, u, scores, pooled, log_normaliser = ctx.saved_tensors
        with _full_precision(a):
            # Through pooled a score's gradient is weight * grad_pooled . (t - pooled).
            shift = grad_log_normaliser - (grad_pooled * pooled).sum(1)
            scoring = Scoring(u, grad_scores, shift.to(a.dtype))
            arriving = Arriving(scores, log_normaliser, grad_pooled, scoring)
            return *ctx.stream.gradients(a, c, p, arriving), None


class _SpanAverage(Function):
    @staticmethod
    def forward(ctx, a, c, p, log_weights, stream):
        ctx.save_for_backward(a, c, p, log_weights)
        ctx.stream = stream
        return stream.average(a, c, p, log_weights).to(a.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_pooled):
        a, c, p, log_weights = ctx.saved_tensors
        with _full_precision(a):
            nothing = a.new_zeros(len(a), dtype=torch.float64)
            arriving = Arriving(log_weights, nothing, grad_pooled, None)
            return *ctx.stream.gradients(a, c, p, arriving)[:3], None, None


def _full_precision(a: Tensor) -> torch.autocast:
    return torch.autocast(a.device.type, enabled=False)


def _one_type(a: Tensor, *others: Tensor) -> list[Tensor]:
    dtype = torch.float32
    for value in (a, *others):
        dtype = torch.promote_types(dtype, value.dtype)
    return [value.to(dtype) for value in (a, *others)]


def _check(a: Tensor, c: Tensor, p: Tensor, limits: SpanLimits) -> None:
    segments, max_width, latest_start = limits
    if a.ndim != 3 or not a.shape == c.shape == p.shape:
        shapes = ", ".join(str(tuple(value.shape)) for value in (a, c, p))
        raise BadInput(f"a, c and p must have one shape (batch, unit, width). Got {shapes}.")
    if segments.shape != a.shape[:2]:
        expected = tuple(a.shape[:2])
        raise BadInput(f"segments must have shape (batch, unit)={expected}. Got {tuple(segments.shape)}.")
    if segments.is_floating_point():
        raise BadInput(f"segments must be whole numbers, -1 where there is no unit. Got {segments.dtype}.")
    if latest_start is not None and (latest_start.shape != segments.shape or latest_start.is_floating_point()):
        raise BadInput(
            f"latest_start must be whole numbers of shape (batch, unit)={tuple(segments.shape)}. Got "
            f"{latest_start.dtype} of shape {tuple(latest_start.shape)}."
        )
    if max_width is not None:
        at_least("max_width", max_width, 1)
