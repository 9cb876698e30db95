"""What `triton_route` runs on the GPU: Triton programs, each for one example and one block of it.

Tensors are contiguous: a, c, p [batch, unit, width]; squares [batch, unit, unit]; segments and latest [batch, unit].
"""

import torch
from torch import Tensor

from pellucid.base.packages import optional_package
from pellucid.models.span_kernel.packs import Arriving, SpanLimits

triton = optional_package("triton")
tl = optional_package("triton").language
jit = triton.jit


@jit
def _own_part(n_units_of_block: tl.constexpr, chunk: tl.constexpr):
    """What this program is for: example, block, the block's units, and dimensions of the width."""
    block = tl.program_id(1)
    units = block * n_units_of_block + tl.arange(0, n_units_of_block)
    return tl.program_id(0).to(tl.int64), block, units, tl.program_id(2) * chunk + tl.arange(0, chunk)


@jit
def _vector(values, row, dims, width):
    """[chunk] of one row, 0 beyond its end."""
    return tl.load(values + row * width + dims, mask=dims < width, other=0.0)


@jit
def _offsets(example, units, dims, n_units, width):
    """[unit, chunk] of one example: where they lie in memory, and which exist."""
    inside = (units[:, None] < n_units) & (dims[None, :] < width)
    return (example * n_units + units[:, None]) * width + dims[None, :], inside


@jit
def _blocks(values, others, example, units, dims, n_units, width):
    """[unit, chunk] of one example, of two tensors; 0 beyond its ends."""
    offsets, inside = _offsets(example, units, dims, n_units, width)
    return tl.load(values + offsets, mask=inside, other=0.0), tl.load(others + offsets, mask=inside, other=0.0)


@jit
def _store_blocks(values, others, numbers, other_numbers, example, units, dims, n_units, width):
    """Write [unit, chunk] of one example to two tensors."""
    offsets, inside = _offsets(example, units, dims, n_units, width)
    tl.store(values + offsets, numbers, mask=inside)
    tl.store(others + offsets, other_numbers, mask=inside)


@jit
def _tanhs(a, c, p_start, p_end):
    """[row, column, chunk] from [row, chunk] and [column, chunk]; tanh z = 2 sigmoid(2z) - 1."""
    z = a[:, None, :] + c[None, :, :] + p_start[:, None, :] * p_end[None, :, :]
    return 2.0 / (1.0 + tl.exp(-2.0 * z)) - 1.0


@jit
def _legal(segments, latest, example, rows, columns, n_units, max_width):
    """[row, column]: whether there is such a span."""
    first = tl.load(segments + example * n_units + rows, mask=rows < n_units, other=-1)[:, None]
    last = tl.load(segments + example * n_units + columns, mask=columns < n_units, other=-1)[None, :]
    far = columns[None, :] - rows[:, None]
    start = tl.load(latest + example * n_units + columns, mask=columns < n_units, other=-1)[None, :]
    return (first == last) & (first >= 0) & (far >= 0) & (far < max_width) & (rows[:, None] <= start)


@jit
def _square(values, example, rows, columns, legal, n_units):
    """[row, column] of one example, 0 where there is no span."""
    offsets, _ = _offsets(example, rows, columns, n_units, n_units)
    return tl.load(values + offsets, mask=legal, other=0.0)


@jit
def _summed(tanhs, factors, legal):
    """[chunk]: span vectors times their factors; nan where there is no span must not spread."""
    terms = tl.where(legal[:, :, None], tanhs * factors[:, :, None], 0.0)
    return tl.sum(tl.sum(terms, axis=0), axis=0)


@jit
def _through(tanhs, weights, deltas, pull, u, example, rows, columns, legal, n_units):
    """[row, column, chunk]: the gradient at a_i + c_j + p_i * p_j; [row, column]: the spans' deltas."""
    weight = _square(weights, example, rows, columns, legal, n_units)
    delta = _square(deltas, example, rows, columns, legal, n_units)
    arriving = weight[:, :, None] * pull[None, None, :] + delta[:, :, None] * u[None, None, :]
    return tl.where(legal[:, :, None], (1.0 - tanhs * tanhs) * arriving, 0.0), delta


@jit
def project(
    a, c, p, segments, latest, vectors, projections, outside, n_units, width, max_width,
    side: tl.constexpr, chunk: tl.constexpr,
):  # fmt: skip
    """Every span vector times its example's vector, on one square of spans; `outside` where there is no span."""
    example = tl.program_id(0).to(tl.int64)
    rows = tl.program_id(1) * side + tl.arange(0, side)
    columns = tl.program_id(2) * side + tl.arange(0, side)
    legal = _legal(segments, latest, example, rows, columns, n_units, max_width)
    sums = tl.zeros((side, side), tl.float32)
    far = tl.program_id(2) * side - tl.program_id(1) * side
    if (far > -side) & (far < max_width + side):
        for start in range(0, width, chunk):
            dims = start + tl.arange(0, chunk)
            a_rows, p_rows = _blocks(a, p, example, rows, dims, n_units, width)
            c_columns, p_columns = _blocks(c, p, example, columns, dims, n_units, width)
            tanhs = _tanhs(a_rows, c_columns, p_rows, p_columns)
            sums += tl.sum(tanhs * _vector(vectors, example, dims, width)[None, None, :], axis=2)
    offsets, inside = _offsets(example, rows, columns, n_units, n_units)
    tl.store(projections + offsets, tl.where(legal, sums, outside), mask=inside)


@jit
def pooled_parts(
    a, c, p, segments, latest, weights, parts, n_units, width, max_width,
    n_rows: tl.constexpr, n_columns: tl.constexpr, chunk: tl.constexpr,
):  # fmt: skip
    """The weighted sum of the span vectors that begin in one block of rows, for one chunk of the width."""
    example, block, rows, dims = _own_part(n_rows, chunk)
    a_rows, p_rows = _blocks(a, p, example, rows, dims, n_units, width)
    sums = tl.zeros((chunk,), tl.float32)
    end = tl.minimum(n_units, block * n_rows + n_rows + max_width - 1)
    for start in range(block * n_rows, end, n_columns):
        columns = start + tl.arange(0, n_columns)
        legal = _legal(segments, latest, example, rows, columns, n_units, max_width)
        c_columns, p_columns = _blocks(c, p, example, columns, dims, n_units, width)
        tanhs = _tanhs(a_rows, c_columns, p_rows, p_columns)
        sums += _summed(tanhs, _square(weights, example, rows, columns, legal, n_units), legal)
    tl.store(parts + (example * tl.num_programs(1) + block) * width + dims, sums, mask=dims < width)


@jit
def by_row(
    a, c, p, segments, latest, weights, deltas, pulls, u, grad_a, grad_p, grad_u, n_units, width, max_width,
    n_rows: tl.constexpr, n_columns: tl.constexpr, chunk: tl.constexpr,
):  # fmt: skip
    """Gradients of a, of p as a span's beginning, and this block's part of u's: sums over columns."""
    example, block, rows, dims = _own_part(n_rows, chunk)
    a_rows, p_rows = _blocks(a, p, example, rows, dims, n_units, width)
    pull, vector = _vector(pulls, example, dims, width), _vector(u, 0, dims, width)
    for_a, for_p = tl.zeros((n_rows, chunk), tl.float32), tl.zeros((n_rows, chunk), tl.float32)
    for_u = tl.zeros((chunk,), tl.float32)
    end = tl.minimum(n_units, block * n_rows + n_rows + max_width - 1)
    for start in range(block * n_rows, end, n_columns):
        columns = start + tl.arange(0, n_columns)
        legal = _legal(segments, latest, example, rows, columns, n_units, max_width)
        c_columns, p_columns = _blocks(c, p, example, columns, dims, n_units, width)
        tanhs = _tanhs(a_rows, c_columns, p_rows, p_columns)
        through, delta = _through(tanhs, weights, deltas, pull, vector, example, rows, columns, legal, n_units)
        for_a += tl.sum(through, axis=1)
        for_p += tl.sum(through * p_columns[None, :, :], axis=1)
        for_u += _summed(tanhs, delta, legal)
    _store_blocks(grad_a, grad_p, for_a, for_p, example, rows, dims, n_units, width)
    tl.store(grad_u + (example * tl.num_programs(1) + block) * width + dims, for_u, mask=dims < width)


@jit
def by_column(
    a, c, p, segments, latest, weights, deltas, pulls, u, grad_c, grad_p, n_units, width, max_width,
    n_columns: tl.constexpr, n_rows: tl.constexpr, chunk: tl.constexpr,
):  # fmt: skip
    """Gradients of c, and of p as a span's end: sums over rows."""
    example, block, columns, dims = _own_part(n_columns, chunk)
    c_columns, p_columns = _blocks(c, p, example, columns, dims, n_units, width)
    pull, vector = _vector(pulls, example, dims, width), _vector(u, 0, dims, width)
    for_c, for_p = tl.zeros((n_columns, chunk), tl.float32), tl.zeros((n_columns, chunk), tl.float32)
    begin = tl.maximum(0, block * n_columns - max_width + 1)
    end = tl.minimum(n_units, block * n_columns + n_columns)
    for start in range(begin, end, n_rows):
        rows = start + tl.arange(0, n_rows)
        legal = _legal(segments, latest, example, rows, columns, n_units, max_width)
        a_rows, p_rows = _blocks(a, p, example, rows, dims, n_units, width)
        tanhs = _tanhs(a_rows, c_columns, p_rows, p_columns)
        through, _ = _through(tanhs, weights, deltas, pull, vector, example, rows, columns, legal, n_units)
        for_c += tl.sum(through, axis=0)
        for_p += tl.sum(through * p_rows[:, None, :], axis=0)
    _store_blocks(grad_c, grad_p, for_c, for_p, example, columns, dims, n_units, width)


# The span kernel's route for CUDA with Triton, in float32.
#
# No program ever needs a span's whole vector, so any width fits: scores are summed over chunks of the width, the
# pooled vectors and gradients are computed chunk by chunk. Each number is written by one program, so results are the
# same in every run; the price is one more tanh in the backward pass than atomic additions would need.

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
