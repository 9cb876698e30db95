"""What runs on the GPU for `span_triton`: Triton programs, each for one example and one block of it.

Tensors are contiguous: a, c, p [batch, unit, width]; squares [batch, unit, unit]; segments [batch, unit].
"""

from pellucid.core.optional_package import optional_package

triton = optional_package("triton")
tl = optional_package("triton").language
jit = triton.jit


@jit
def _tanhs(a, c, p_start, p_end):
    """[row, column, chunk] from [row, chunk] and [column, chunk]; tanh z = 2 sigmoid(2z) - 1."""
    z = a[:, None, :] + c[None, :, :] + p_start[:, None, :] * p_end[None, :, :]
    return 2.0 / (1.0 + tl.exp(-2.0 * z)) - 1.0


@jit
def _block(values, example, units, dims, n_units, width):
    """[unit, chunk] of one example, 0 beyond its ends."""
    inside = (units[:, None] < n_units) & (dims[None, :] < width)
    return tl.load(
        values + (example * n_units + units[:, None]) * width + dims[None, :], mask=inside, other=0.0
    )


@jit
def _legal(segments, example, rows, columns, n_units, max_width):
    """[row, column]: whether there is such a span."""
    first = tl.load(segments + example * n_units + rows, mask=rows < n_units, other=-1)[:, None]
    last = tl.load(segments + example * n_units + columns, mask=columns < n_units, other=-1)[None, :]
    far = columns[None, :] - rows[:, None]
    return (first == last) & (first >= 0) & (far >= 0) & (far < max_width)


@jit
def _square(values, example, rows, columns, legal, n_units):
    """[row, column] of one example, 0 where there is no span."""
    places = (example * n_units + rows[:, None]) * n_units + columns[None, :]
    return tl.load(values + places, mask=legal, other=0.0)


@jit
def project(
    a,
    c,
    p,
    segments,
    vectors,
    found,
    outside,
    n_units,
    width,
    max_width,
    side: tl.constexpr,
    chunk: tl.constexpr,
):
    """Every span vector times its example's vector, on one square of spans; `outside` where there is no span."""
    example = tl.program_id(0).to(tl.int64)
    rows = tl.program_id(1) * side + tl.arange(0, side)
    columns = tl.program_id(2) * side + tl.arange(0, side)
    legal = _legal(segments, example, rows, columns, n_units, max_width)
    sums = tl.zeros((side, side), tl.float32)
    far = tl.program_id(2) * side - tl.program_id(1) * side
    if (far > -side) & (far < max_width + side):
        for start in range(0, width, chunk):
            dims = start + tl.arange(0, chunk)
            tanhs = _tanhs(
                _block(a, example, rows, dims, n_units, width),
                _block(c, example, columns, dims, n_units, width),
                _block(p, example, rows, dims, n_units, width),
                _block(p, example, columns, dims, n_units, width),
            )
            vector = tl.load(vectors + example * width + dims, mask=dims < width, other=0.0)
            sums += tl.sum(tanhs * vector[None, None, :], axis=2)
    places = (example * n_units + rows[:, None]) * n_units + columns[None, :]
    inside = (rows[:, None] < n_units) & (columns[None, :] < n_units)
    tl.store(found + places, tl.where(legal, sums, outside), mask=inside)


@jit
def pooled_parts(
    a, c, p, segments, weights, parts, n_units, width, max_width,
    n_rows: tl.constexpr, n_columns: tl.constexpr, chunk: tl.constexpr,
):  # fmt: skip
    """The weighted sum of the span vectors that begin in one block of rows, for one chunk of the width."""
    example, block = tl.program_id(0).to(tl.int64), tl.program_id(1)
    rows = block * n_rows + tl.arange(0, n_rows)
    dims = tl.program_id(2) * chunk + tl.arange(0, chunk)
    a_rows = _block(a, example, rows, dims, n_units, width)
    p_rows = _block(p, example, rows, dims, n_units, width)
    sums = tl.zeros((chunk,), tl.float32)
    end = tl.minimum(n_units, block * n_rows + n_rows + max_width - 1)
    for start in range(block * n_rows, end, n_columns):
        columns = start + tl.arange(0, n_columns)
        legal = _legal(segments, example, rows, columns, n_units, max_width)
        p_columns = _block(p, example, columns, dims, n_units, width)
        tanhs = _tanhs(a_rows, _block(c, example, columns, dims, n_units, width), p_rows, p_columns)
        weight = _square(weights, example, rows, columns, legal, n_units)
        # Where there is no span, what is no number must not spread.
        terms = tl.where(legal[:, :, None], tanhs * weight[:, :, None], 0.0)
        sums += tl.sum(tl.sum(terms, axis=0), axis=0)
    place = (example * tl.num_programs(1) + block) * width
    tl.store(parts + place + dims, sums, mask=dims < width)


@jit
def _slopes(tanhs, weight, delta, pull, u, legal):
    """[row, column, chunk]: the gradient at a_i + c_j + p_i * p_j."""
    arriving = weight[:, :, None] * pull[None, None, :] + delta[:, :, None] * u[None, None, :]
    return tl.where(legal[:, :, None], (1.0 - tanhs * tanhs) * arriving, 0.0)


@jit
def by_row(
    a, c, p, segments, weights, deltas, pulls, u, grad_a, grad_p, grad_u, n_units, width, max_width,
    n_rows: tl.constexpr, n_columns: tl.constexpr, chunk: tl.constexpr,
):  # fmt: skip
    """Gradients of a, of p as a span's beginning, and this block's part of u's: sums over columns."""
    example, block = tl.program_id(0).to(tl.int64), tl.program_id(1)
    rows = block * n_rows + tl.arange(0, n_rows)
    dims = tl.program_id(2) * chunk + tl.arange(0, chunk)
    a_rows = _block(a, example, rows, dims, n_units, width)
    p_rows = _block(p, example, rows, dims, n_units, width)
    pull = tl.load(pulls + example * width + dims, mask=dims < width, other=0.0)
    vector = tl.load(u + dims, mask=dims < width, other=0.0)
    for_a, for_p = tl.zeros((n_rows, chunk), tl.float32), tl.zeros((n_rows, chunk), tl.float32)
    for_u = tl.zeros((chunk,), tl.float32)
    end = tl.minimum(n_units, block * n_rows + n_rows + max_width - 1)
    for start in range(block * n_rows, end, n_columns):
        columns = start + tl.arange(0, n_columns)
        legal = _legal(segments, example, rows, columns, n_units, max_width)
        p_columns = _block(p, example, columns, dims, n_units, width)
        tanhs = _tanhs(a_rows, _block(c, example, columns, dims, n_units, width), p_rows, p_columns)
        weight = _square(weights, example, rows, columns, legal, n_units)
        delta = _square(deltas, example, rows, columns, legal, n_units)
        slopes = _slopes(tanhs, weight, delta, pull, vector, legal)
        for_a += tl.sum(slopes, axis=1)
        for_p += tl.sum(slopes * p_columns[None, :, :], axis=1)
        scored = tl.where(legal[:, :, None], tanhs * delta[:, :, None], 0.0)
        for_u += tl.sum(tl.sum(scored, axis=0), axis=0)
    places = (example * n_units + rows[:, None]) * width + dims[None, :]
    inside = (rows[:, None] < n_units) & (dims[None, :] < width)
    tl.store(grad_a + places, for_a, mask=inside)
    tl.store(grad_p + places, for_p, mask=inside)
    tl.store(grad_u + (example * tl.num_programs(1) + block) * width + dims, for_u, mask=dims < width)


@jit
def by_column(
    a, c, p, segments, weights, deltas, pulls, u, grad_c, grad_p, n_units, width, max_width,
    n_columns: tl.constexpr, n_rows: tl.constexpr, chunk: tl.constexpr,
):  # fmt: skip
    """Gradients of c, and of p as a span's end: sums over rows."""
    example, block = tl.program_id(0).to(tl.int64), tl.program_id(1)
    columns = block * n_columns + tl.arange(0, n_columns)
    dims = tl.program_id(2) * chunk + tl.arange(0, chunk)
    c_columns = _block(c, example, columns, dims, n_units, width)
    p_columns = _block(p, example, columns, dims, n_units, width)
    pull = tl.load(pulls + example * width + dims, mask=dims < width, other=0.0)
    vector = tl.load(u + dims, mask=dims < width, other=0.0)
    for_c, for_p = tl.zeros((n_columns, chunk), tl.float32), tl.zeros((n_columns, chunk), tl.float32)
    begin = tl.maximum(0, block * n_columns - max_width + 1)
    end = tl.minimum(n_units, block * n_columns + n_columns)
    for start in range(begin, end, n_rows):
        rows = start + tl.arange(0, n_rows)
        legal = _legal(segments, example, rows, columns, n_units, max_width)
        p_rows = _block(p, example, rows, dims, n_units, width)
        tanhs = _tanhs(_block(a, example, rows, dims, n_units, width), c_columns, p_rows, p_columns)
        weight = _square(weights, example, rows, columns, legal, n_units)
        delta = _square(deltas, example, rows, columns, legal, n_units)
        slopes = _slopes(tanhs, weight, delta, pull, vector, legal)
        for_c += tl.sum(slopes, axis=0)
        for_p += tl.sum(slopes * p_rows[:, None, :], axis=0)
    places = (example * n_units + columns[:, None]) * width + dims[None, :]
    inside = (columns[:, None] < n_units) & (dims[None, :] < width)
    tl.store(grad_c + places, for_c, mask=inside)
    tl.store(grad_p + places, for_p, mask=inside)
