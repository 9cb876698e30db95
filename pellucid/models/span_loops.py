"""The span kernel's compiled loops: four spans at once, two rows by two columns, sixteen dimensions at a time.

All tensors come flat, their width filled with zeros up to a multiple of the lanes; a place is where a unit's numbers
begin. A text with an odd number of units is given its last one twice; spans of the copy are not legal, so
they weigh nothing.
"""

from math import inf
from os import W_OK, access
from pathlib import Path

import numpy as np

from pellucid.core.optional_package import optional_package
from pellucid.models.span_lanes import LANES, clip, every, load, store, total

# Compiling takes seconds. Where the folder may be written what is compiled is kept beside this file, until this file
# changes: touch it after a change of span_lanes.py.
WRITABLE = access(Path(__file__).parent, W_OK)
compiled = optional_package("numba").njit(nogil=True, error_model="numpy", cache=WRITABLE)
inlined = optional_package("numba").njit(inline="always")
number = np.float32

# tanh x = x P(x^2) / Q(x^2) for |x| <= 8, our own fit: within 3.1e-7.
LOWEST = float(np.finfo(number).min)
BOUND, ZERO, ONE = number(8), number(0), number(1)
P0, P1, P2 = number(0.999999981), number(0.129792126), number(0.00298585017)
P3, P4, P5 = number(9.87854884e-6), number(-1.47038641e-8), number(2.35076067e-11)
Q1, Q2, Q3 = number(0.463125286), number(0.0240278768), number(2.37201585e-4)


@inlined
def _above(x, y):
    inner = every(P2) + y * (every(P3) + y * (every(P4) + y * every(P5)))
    return x * (every(P0) + y * (every(P1) + y * inner))


@inlined
def _below(y):
    return every(ONE) + y * (every(Q1) + y * (every(Q2) + y * every(Q3)))


@inlined
def _tanhs(x0, x1, x2, x3):
    """Of four at once with one division, which costs as much as all else: 1 / (a b) tells 1 / a and 1 / b."""
    bound = every(BOUND)
    x0, x1, x2, x3 = clip(x0, bound), clip(x1, bound), clip(x2, bound), clip(x3, bound)
    y0, y1, y2, y3 = x0 * x0, x1 * x1, x2 * x2, x3 * x3
    b0, b1, b2, b3 = _below(y0), _below(y1), _below(y2), _below(y3)
    left, right = b0 * b1, b2 * b3
    inverse = every(ONE) / (left * right)
    by_left, by_right = inverse * right, inverse * left
    return (
        _above(x0, y0) * (b1 * by_left),
        _above(x1, y1) * (b0 * by_left),
        _above(x2, y2) * (b3 * by_right),
        _above(x3, y3) * (b2 * by_right),
    )


@compiled
def _four(a, c, p, i0, i1, j0, j1, vector, at, spans, width):
    """Write the vectors of spans i0..j0, i0..j1, i1..j0, i1..j1; their products with vector[at:]."""
    s0 = s1 = s2 = s3 = every(ZERO)
    for k in range(0, width, LANES):
        a0, a1, p0, p1 = load(a, i0 + k), load(a, i1 + k), load(p, i0 + k), load(p, i1 + k)
        c0, c1, q0, q1 = load(c, j0 + k), load(c, j1 + k), load(p, j0 + k), load(p, j1 + k)
        t0, t1, t2, t3 = _tanhs(a0 + c0 + p0 * q0, a0 + c1 + p0 * q1, a1 + c0 + p1 * q0, a1 + c1 + p1 * q1)
        v = load(vector, at + k)
        s0, s1, s2, s3 = s0 + v * t0, s1 + v * t1, s2 + v * t2, s3 + v * t3
        store(t0, spans, k)
        store(t1, spans, width + k)
        store(t2, spans, 2 * width + k)
        store(t3, spans, 3 * width + k)
    return total(s0), total(s1), total(s2), total(s3)


@inlined
def _add(value, into, start):
    store(load(into, start) + value, into, start)


@compiled
def _add_weighted(spans, weights, into, width):
    w0, w1, w2, w3 = every(weights[0]), every(weights[1]), every(weights[2]), every(weights[3])
    for k in range(0, width, LANES):
        first = w0 * load(spans, k) + w1 * load(spans, width + k)
        second = w2 * load(spans, 2 * width + k) + w3 * load(spans, 3 * width + k)
        _add(first + second, into, k)


@compiled
def _legal(unit, length, latest, i, j, max_width):
    if i > j or j >= length or i >= length:
        return False
    return unit[j] - unit[i] < max_width and unit[i] <= latest[unit[j]]


@compiled
def _second(unit, length, i):
    """The unit beside i; i itself where there is none."""
    return unit[i + 1 if i + 1 < length else i]


@compiled
def _scale(values, factor):
    for k in range(len(values)):
        values[k] *= factor


@compiled
def _log_weights(unit, length, latest, i, j, max_width, known, squared, place, found):
    """Fill `found` with the four spans' scores, of which `squared` keeps a copy, or with given ones."""
    n_units = squared.shape[1]
    for which in range(4):
        row, column = i + which // 2, j + which % 2
        if not _legal(unit, length, latest, row, column, max_width):
            found[which] = -inf
        elif known:
            found[which] = squared[place, unit[row] % n_units, unit[column] % n_units]
        else:
            squared[place, unit[row] % n_units, unit[column] % n_units] = found[which]


@compiled
def sum_text(a, c, p, u, unit, latest, squared, known, max_width, width, weighted):
    """Add one text's span vectors by weight to `weighted`; the weights' sum and what their logarithms lack.

    latest: [batch * unit], for each place the last one that a span ending there may begin with. squared: [batch, unit,
    unit], the log-weights: written if they are not `known`. Both results and `weighted` are
    relative to the highest log-weight. A strip of two rows is summed by itself: a sum of all spans loses a digit.
    """
    length = len(unit)
    place = unit[0] // squared.shape[1]
    highest, mass = LOWEST, 0.0
    spans, strip = np.empty(4 * width, number), np.empty(width, number)
    found = np.empty(4, number)
    for i in range(0, length, 2):
        strip[:] = ZERO
        i0, i1 = unit[i] * width, _second(unit, length, i) * width
        for j in range(i, length, 2):
            if unit[j] - _second(unit, length, i) >= max_width:
                break
            j0, j1 = unit[j] * width, _second(unit, length, j) * width
            found[0], found[1], found[2], found[3] = _four(a, c, p, i0, i1, j0, j1, u, 0, spans, width)
            _log_weights(unit, length, latest, i, j, max_width, known, squared, place, found)
            peak = max(max(found[0], found[1]), max(found[2], found[3]))
            if peak > highest:
                falling = np.exp(highest - peak)
                _scale(strip, falling)
                _scale(weighted, falling)
                mass *= falling
                highest = float(peak)
            for which in range(4):
                found[which] = np.exp(found[which] - highest)
                mass += found[which]
            _add_weighted(spans, found, strip, width)
        for k in range(width):
            weighted[k] += strip[k]
    return mass, highest


@compiled
def _add_gradients(c_grad, p_grad, p, i0, i1, j0, j1, u, pull, at, spans, strip, weights, deltas, width):
    """Four spans' part. strip: sums over columns for a of two rows, for p of both, and for u."""
    w0, w1, w2, w3 = every(weights[0]), every(weights[1]), every(weights[2]), every(weights[3])
    d0, d1, d2, d3 = every(deltas[0]), every(deltas[1]), every(deltas[2]), every(deltas[3])
    one = every(ONE)
    for k in range(0, width, LANES):
        g, v = load(pull, at + k), load(u, k)
        t0, t1 = load(spans, k), load(spans, width + k)
        t2, t3 = load(spans, 2 * width + k), load(spans, 3 * width + k)
        _add((d0 * t0 + d1 * t1) + (d2 * t2 + d3 * t3), strip, 4 * width + k)
        e0, e1 = (one - t0 * t0) * (w0 * g + d0 * v), (one - t1 * t1) * (w1 * g + d1 * v)
        e2, e3 = (one - t2 * t2) * (w2 * g + d2 * v), (one - t3 * t3) * (w3 * g + d3 * v)
        _add(e0 + e1, strip, k)
        _add(e2 + e3, strip, width + k)
        _add(e0 + e2, c_grad, j0 + k)
        _add(e1 + e3, c_grad, j1 + k)
        p0, p1, q0, q1 = load(p, i0 + k), load(p, i1 + k), load(p, j0 + k), load(p, j1 + k)
        _add(e0 * q0 + e1 * q1, strip, 2 * width + k)
        _add(e2 * q0 + e3 * q1, strip, 3 * width + k)
        _add(e0 * p0 + e2 * p1, p_grad, j0 + k)
        _add(e1 * p0 + e3 * p1, p_grad, j1 + k)


@compiled
def _end_strip(strip, i0, i1, a_grad, p_grad, u_grad, width):
    for k in range(width):
        a_grad[i0 + k] += strip[k]
        a_grad[i1 + k] += strip[width + k]
        p_grad[i0 + k] += strip[2 * width + k]
        p_grad[i1 + k] += strip[3 * width + k]
        u_grad[k] += strip[4 * width + k]


@compiled
def _deltas(
    unit, length, latest, i, j, max_width, squared, known, place, normaliser, shift, scored, weights, deltas
):
    """Weights of four spans, and the gradients at their scores; `deltas` comes with pull . t."""
    n_units = squared.shape[1]
    for which in range(4):
        row, column = i + which // 2, j + which % 2
        if not _legal(unit, length, latest, row, column, max_width):
            weights[which] = deltas[which] = ZERO
            continue
        x, y = unit[row] % n_units, unit[column] % n_units
        weights[which] = np.exp(squared[place, x, y] - normaliser)
        through = known[place, x, y] + weights[which] * (deltas[which] + shift)
        deltas[which] = through if scored else ZERO


@compiled
def pull_text(
    a,
    c,
    p,
    u,
    unit,
    latest,
    squared,
    normalisers,
    pulls,
    known,
    shifts,
    scored,
    max_width,
    width,
    a_grad,
    c_grad,
    p_grad,
    u_grad,
):
    """Add one text's part to the gradients. pulls: [batch * width], the gradient at each pooled vector."""
    length, place = len(unit), unit[0] // squared.shape[1]
    at, normaliser, shift = place * width, normalisers[place], shifts[place]
    spans, strip = np.empty(4 * width, number), np.empty(5 * width, number)
    weights, deltas = np.empty(4, number), np.empty(4, number)
    for i in range(0, length, 2):
        strip[:] = ZERO
        i0, i1 = unit[i] * width, _second(unit, length, i) * width
        for j in range(i, length, 2):
            if unit[j] - _second(unit, length, i) >= max_width:
                break
            j0, j1 = unit[j] * width, _second(unit, length, j) * width
            deltas[0], deltas[1], deltas[2], deltas[3] = _four(
                a, c, p, i0, i1, j0, j1, pulls, at, spans, width
            )
            _deltas(
                unit,
                length,
                latest,
                i,
                j,
                max_width,
                squared,
                known,
                place,
                normaliser,
                shift,
                scored,
                weights,
                deltas,
            )
            _add_gradients(
                c_grad, p_grad, p, i0, i1, j0, j1, u, pulls, at, spans, strip, weights, deltas, width
            )
        _end_strip(strip, i0, i1, a_grad, p_grad, u_grad, width)
