"""The span kernel's compiled loops: four spans at once, two rows by two columns, sixteen dimensions at a time.

All tensors come flat, their width filled with zeros up to a multiple of the lanes; i0, i1, j0, j1 are where a unit's
numbers begin. In a text with an odd number of units the last one stands twice; spans of the copy are not legal, so they
weigh nothing.
"""

from math import inf
from os import W_OK, access
from pathlib import Path

import numpy as np

from pellucid.base.packages import optional_package
from pellucid.models.span_kernel.numba_lanes import (
    LANES,
    ROUNDER,
    every,
    least,
    load,
    power_of_two,
    size,
    store,
    total,
    with_sign,
)

# Compiling takes seconds. Where the folder is writable, the result is cached beside this file until this file changes:
# touch it after a change of numba_lanes.py.
WRITABLE = access(Path(__file__).parent, W_OK)
compiled = optional_package("numba").njit(nogil=True, error_model="numpy", cache=WRITABLE)
inlined = optional_package("numba").njit(inline="always")
float32 = np.float32

# With e = exp(-2 |x|): tanh x = (1 - e) / (1 + e) with the sign of x, and the tail q = e / (1 + e) gives it and its
# derivative, t = 1 - 2 q and 1 - t^2 = 4 q (1 - q), without a difference of nearly equal numbers, however large x is.
# e = 2^(k + f), k whole and |f| <= 1/2; 2^f by our own fit, within 9.2e-8 of it. t is within 3e-7, also as 1 - 2 q.
LOWEST = float(np.finfo(float32).min)
ZERO, ONE, TWO, FOUR = float32(0), float32(1), float32(2), float32(4)
TO_BASE_TWO, UP = float32(-2 / np.log(2)), float32(ROUNDER)
SUMMED = 8 * LANES  # numbers of a score summed by themselves: an error of a score is multiplied in its weight
BOUND = float32(43)  # 2 ** -124 beyond: smaller numbers have no bits left
E1, E2, E3 = float32(0.693146978), float32(0.240222421), float32(0.0555073374)
E4, E5 = float32(0.00967151318), float32(0.00132647288)


@inlined
def _fallen(x):
    """exp(-2 |x|)"""
    power = least(size(x), every(BOUND)) * every(TO_BASE_TWO)
    rounded = power + every(UP)
    f = power - (rounded - every(UP))
    inner = every(E2) + f * (every(E3) + f * (every(E4) + f * every(E5)))
    return (every(ONE) + f * (every(E1) + f * inner)) * power_of_two(rounded)


@inlined
def _tanhs(x0, x1, x2, x3):
    """Absolute values of four tanhs, and their tails, with one division, which costs as much as all the rest."""
    e0, e1, e2, e3 = _fallen(x0), _fallen(x1), _fallen(x2), _fallen(x3)
    ones = every(ONE)
    b0, b1, b2, b3 = ones + e0, ones + e1, ones + e2, ones + e3
    left, right = b0 * b1, b2 * b3
    inverse = ones / (left * right)
    by_left, by_right = inverse * right, inverse * left
    r0, r1, r2, r3 = b1 * by_left, b0 * by_left, b3 * by_right, b2 * by_right
    sizes = (ones - e0) * r0, (ones - e1) * r1, (ones - e2) * r2, (ones - e3) * r3
    return sizes, (e0 * r0, e1 * r1, e2 * r2, e3 * r3)


@inlined
def _tanh_of_tail(q):
    """tanh x, from its tail with the sign of x."""
    return with_sign(every(ONE), q) - every(TWO) * q


@inlined
def _derivative_of_tail(q):
    """4 q (1 - q) = 1 - tanh^2"""
    return every(FOUR) * (size(q) - q * q)


@compiled
def _four(a, c, p, i0, i1, j0, j1, vector, at, spans, width, tails):
    """Write the vectors of spans i0..j0, i0..j1, i1..j0, i1..j1, or their tails; the vectors' products with
    vector[at:].
    """
    s0 = s1 = s2 = s3 = every(ZERO)
    for first in range(0, width, SUMMED):
        n0 = n1 = n2 = n3 = every(ZERO)
        for k in range(first, min(first + SUMMED, width), LANES):
            a0, a1, p0, p1 = load(a, i0 + k), load(a, i1 + k), load(p, i0 + k), load(p, i1 + k)
            c0, c1, q0, q1 = load(c, j0 + k), load(c, j1 + k), load(p, j0 + k), load(p, j1 + k)
            x0, x1, x2, x3 = a0 + c0 + p0 * q0, a0 + c1 + p0 * q1, a1 + c0 + p1 * q0, a1 + c1 + p1 * q1
            (t0, t1, t2, t3), (f0, f1, f2, f3) = _tanhs(x0, x1, x2, x3)
            t0, t1, t2, t3 = with_sign(t0, x0), with_sign(t1, x1), with_sign(t2, x2), with_sign(t3, x3)
            v = load(vector, at + k)
            n0, n1, n2, n3 = n0 + v * t0, n1 + v * t1, n2 + v * t2, n3 + v * t3
            if tails:
                t0, t1, t2, t3 = with_sign(f0, x0), with_sign(f1, x1), with_sign(f2, x2), with_sign(f3, x3)
            store(t0, spans, k)
            store(t1, spans, width + k)
            store(t2, spans, 2 * width + k)
            store(t3, spans, 3 * width + k)
        s0, s1, s2, s3 = s0 + n0, s1 + n1, s2 + n2, s3 + n3
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
def _log_weights(unit, length, latest, i, j, max_width, known, squared, example, scores):
    """The four spans' log-weights, in place: scores, which are copied into `squared`, or those that `squared` has
    already.
    """
    n_units = squared.shape[1]
    for which in range(4):
        row, column = i + which // 2, j + which % 2
        if not _legal(unit, length, latest, row, column, max_width):
            scores[which] = -inf
        elif known:
            scores[which] = squared[example, unit[row] % n_units, unit[column] % n_units]
        else:
            squared[example, unit[row] % n_units, unit[column] % n_units] = scores[which]


@compiled
def sum_text(a, c, p, u, unit, latest, squared, known, max_width, width, weighted):
    """Add one text's weighted span vectors to `weighted`; return the weights' sum and what their logarithms were
    reduced by.

    latest: [batch * unit], for each unit the last one that a span ending there may begin with. squared: [batch, unit,
    unit], the log-weights: written if they are not `known`. Both results and `weighted` are
    relative to the highest log-weight. A strip of two rows is summed by itself: a sum of all spans loses a digit.
    """
    length = len(unit)
    example = unit[0] // squared.shape[1]
    highest, mass = LOWEST, 0.0
    spans, strip = np.empty(4 * width, float32), np.empty(width, float32)
    scores = np.empty(4, float32)
    for i in range(0, length, 2):
        strip[:] = ZERO
        i0, i1 = unit[i] * width, _second(unit, length, i) * width
        for j in range(i, length, 2):
            if unit[j] - _second(unit, length, i) >= max_width:
                break
            j0, j1 = unit[j] * width, _second(unit, length, j) * width
            scores[0], scores[1], scores[2], scores[3] = _four(a, c, p, i0, i1, j0, j1, u, 0, spans, width, False)
            _log_weights(unit, length, latest, i, j, max_width, known, squared, example, scores)
            peak = max(max(scores[0], scores[1]), max(scores[2], scores[3]))
            if peak > highest:
                falling = np.exp(highest - peak)
                _scale(strip, falling)
                _scale(weighted, falling)
                mass *= falling
                highest = float(peak)
            for which in range(4):
                scores[which] = np.exp(scores[which] - highest)
                mass += scores[which]
            _add_weighted(spans, scores, strip, width)
        for k in range(width):
            weighted[k] += strip[k]
    return mass, highest


@compiled
def _add_gradients(c_grad, p_grad, p, i0, i1, j0, j1, u, pull, at, spans, strip, weights, deltas, width):
    """Four spans' part of the gradients. spans: tails. strip: sums over columns for a of two rows, for p of both, for
    u.
    """
    w0, w1, w2, w3 = every(weights[0]), every(weights[1]), every(weights[2]), every(weights[3])
    d0, d1, d2, d3 = every(deltas[0]), every(deltas[1]), every(deltas[2]), every(deltas[3])
    for k in range(0, width, LANES):
        g, v = load(pull, at + k), load(u, k)
        f0, f1 = load(spans, k), load(spans, width + k)
        f2, f3 = load(spans, 2 * width + k), load(spans, 3 * width + k)
        t0, t1, t2, t3 = _tanh_of_tail(f0), _tanh_of_tail(f1), _tanh_of_tail(f2), _tanh_of_tail(f3)
        _add((d0 * t0 + d1 * t1) + (d2 * t2 + d3 * t3), strip, 4 * width + k)
        e0, e1 = _derivative_of_tail(f0) * (w0 * g + d0 * v), _derivative_of_tail(f1) * (w1 * g + d1 * v)
        e2, e3 = _derivative_of_tail(f2) * (w2 * g + d2 * v), _derivative_of_tail(f3) * (w3 * g + d3 * v)
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
def _deltas(unit, length, latest, i, j, max_width, squared, known, example, normaliser, shift, scored, weights, deltas):
    """Weights of four spans, and the gradients at their scores; `deltas` comes with pull . t."""
    n_units = squared.shape[1]
    for which in range(4):
        row, column = i + which // 2, j + which % 2
        if not _legal(unit, length, latest, row, column, max_width):
            weights[which] = deltas[which] = ZERO
            continue
        x, y = unit[row] % n_units, unit[column] % n_units
        weights[which] = np.exp(squared[example, x, y] - normaliser)
        through = known[example, x, y] + weights[which] * (deltas[which] + shift)
        deltas[which] = through if scored else ZERO


@compiled
def gradients_of_text(
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
    length, example = len(unit), unit[0] // squared.shape[1]
    at, normaliser, shift = example * width, normalisers[example], shifts[example]
    spans, strip = np.empty(4 * width, float32), np.empty(5 * width, float32)
    weights, deltas = np.empty(4, float32), np.empty(4, float32)
    for i in range(0, length, 2):
        strip[:] = ZERO
        i0, i1 = unit[i] * width, _second(unit, length, i) * width
        for j in range(i, length, 2):
            if unit[j] - _second(unit, length, i) >= max_width:
                break
            j0, j1 = unit[j] * width, _second(unit, length, j) * width
            deltas[0], deltas[1], deltas[2], deltas[3] = _four(a, c, p, i0, i1, j0, j1, pulls, at, spans, width, True)
            _deltas(
                unit,
                length,
                latest,
                i,
                j,
                max_width,
                squared,
                known,
                example,
                normaliser,
                shift,
                scored,
                weights,
                deltas,
            )
            _add_gradients(c_grad, p_grad, p, i0, i1, j0, j1, u, pulls, at, spans, strip, weights, deltas, width)
        _end_strip(strip, i0, i1, a_grad, p_grad, u_grad, width)


def try_lanes() -> None:
    """Compile the loop that uses every vector operation; raises the compiler's own error where that fails."""
    zeros, vectors = np.zeros(LANES, float32), np.zeros(4 * LANES, float32)
    _four(zeros, zeros, zeros, 0, 0, 0, 0, zeros, 0, vectors, LANES, True)
    _add_weighted(vectors, np.zeros(4, float32), zeros, LANES)
