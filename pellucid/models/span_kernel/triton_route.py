"""The span kernel's route for CUDA with Triton, in float32.

No program ever needs a span's whole vector, so any width fits: scores are summed over chunks of the width, the pooled
vectors and gradients are computed chunk by chunk. Each number is written by one program, so results are the same in
every run; the price is one more tanh in the backward pass than atomic additions would need.
"""

import torch
from torch import Tensor

from pellucid.base.packages import optional_package
from pellucid.models.span_kernel.packs import Arriving, SpanLimits
from pellucid.models.span_kernel.triton_programs import by_column, by_row, pooled_parts, project

cdiv = optional_package("triton").cdiv

SQUARE, SQUARE_CHUNK = 32, 16  # spans of a program that scores: their square; dimensions at a time
ROWS, COLUMNS, CHUNK = 16, 16, 32  # of a program that sums


class Programs:
    """See `Stream`."""

    def __init__(self, limits: SpanLimits) -> None:
        segments, max_width, latest_start = limits
        self.segments = segments.int().contiguous()
        self.n_units = segments.shape[1]
        if latest_start is None:
            latest_start = torch.arange(self.n_units, device=segments.device).expand(segments.shape)
        self.latest = latest_start.int().contiguous()
        self.max_width = self.n_units if max_width is None else min(max_width, self.n_units)

    def attend(self, a: Tensor, c: Tensor, p: Tensor, u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        a, c, p = (value.contiguous() for value in (a, c, p))
        scores = self._projected(a, c, p, u.expand(len(a), -1), -torch.inf)
        log_normaliser = scores.flatten(1).double().logsumexp(1)
        weights = _weights(scores, log_normaliser)
        return scores, self._pooled(a, c, p, weights), log_normaliser

    def average(self, a: Tensor, c: Tensor, p: Tensor, log_weights: Tensor) -> Tensor:
        a, c, p = (value.contiguous() for value in (a, c, p))
        return self._pooled(a, c, p, log_weights.exp().contiguous())

    def gradients(self, a: Tensor, c: Tensor, p: Tensor, arriving: Arriving) -> tuple[Tensor, ...]:
        log_weights, log_normaliser, pull, scoring = arriving
        a, c, p, pull = (value.contiguous() for value in (a, c, p, pull))
        weights = _weights(log_weights, log_normaliser)
        u, deltas = a.new_zeros(a.shape[-1]), weights
        if scoring is not None:
            u = scoring.u.contiguous()
            deltas = self._projected(a, c, p, pull, 0.0).add_(scoring.shift[:, None, None])
            deltas.mul_(weights).add_(scoring.known)
        spans = a, c, p, self.segments, self.latest, weights, deltas.contiguous(), pull, u
        grad_a, grad_c = torch.empty_like(a), torch.empty_like(c)
        grad_start, grad_end = torch.empty_like(p), torch.empty_like(p)
        grad_u = a.new_empty(len(a), cdiv(self.n_units, ROWS), a.shape[-1])
        if a.numel():
            grid = len(a), cdiv(self.n_units, ROWS), cdiv(a.shape[-1], CHUNK)
            by_row[grid](*spans, grad_a, grad_start, grad_u, *self._sizes(a), ROWS, COLUMNS, CHUNK)
            by_column[grid](*spans, grad_c, grad_end, *self._sizes(a), ROWS, COLUMNS, CHUNK)
        return grad_a, grad_c, grad_start.add_(grad_end), grad_u.sum((0, 1)) * float(scoring is not None)

    def _projected(self, a: Tensor, c: Tensor, p: Tensor, vectors: Tensor, outside: float) -> Tensor:
        """[batch, unit, unit]: the product of every span's vector with the example's, `outside` where illegal."""
        projections = a.new_empty(len(a), self.n_units, self.n_units)
        if projections.numel():
            tiles = cdiv(self.n_units, SQUARE)
            project[len(a), tiles, tiles](
                a,
                c,
                p,
                self.segments,
                self.latest,
                vectors.contiguous(),
                projections,
                outside,
                *self._sizes(a),
                SQUARE,
                SQUARE_CHUNK,
            )
        return projections

    def _pooled(self, a: Tensor, c: Tensor, p: Tensor, weights: Tensor) -> Tensor:
        parts = a.new_empty(len(a), cdiv(self.n_units, ROWS), a.shape[-1])
        if parts.numel():
            grid = len(a), cdiv(self.n_units, ROWS), cdiv(a.shape[-1], CHUNK)
            spans = a, c, p, self.segments, self.latest
            pooled_parts[grid](*spans, weights, parts, *self._sizes(a), ROWS, COLUMNS, CHUNK)
        return parts.sum(1, dtype=torch.float64)

    def _sizes(self, a: Tensor) -> tuple[int, int, int]:
        return self.n_units, a.shape[-1], self.max_width


def _weights(log_weights: Tensor, log_normaliser: Tensor) -> Tensor:
    """[batch, unit, unit]; 0 where there is no span, also where minus infinity minus itself would be nan."""
    finite = log_normaliser.masked_fill(log_normaliser == -torch.inf, 0.0)
    return (log_weights - finite[:, None, None]).exp_().to(log_weights.dtype)
