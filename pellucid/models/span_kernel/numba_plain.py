"""The span kernel's compiled loops without vectors of our own: one span at a time, in plain loops over the width.

They compute what `numba_loops.py` computes and take the same arguments. They run where its vectors cannot be compiled,
and tests compare the two. Whether the plain loops become vector instructions is left to the compiler.
"""

import numpy as np

from pellucid.base.packages import optional_package

njit = optional_package("numba").njit
compiled = njit(nogil=True, error_model="numpy")
contracted = njit(nogil=True, error_model="numpy", fastmath={"contract"})  # a product and a sum may become one
reordered = njit(nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
float32, whole = np.float32, np.int32
LOWEST = float(np.finfo(float32).min)

# As in numba_loops: e = exp(-2 |x|) = 2^(k + f), k whole and |f| <= 1/2; 2^f by the same polynomial.
ONE, BOUND, TO_BASE_TWO, UP = float32(1), float32(43), float32(-2 / np.log(2)), float32(1.5 * 2.0**23)
E1, E2, E3 = float32(0.693146978), float32(0.240222421), float32(0.0555073374)
E4, E5 = float32(0.00967151318), float32(0.00132647288)
MANTISSA_BITS, EXPONENT_OF_ONE = whole(23), whole(127 << 23)


@njit(inline="always")
def _tanh(x):
    power = min(abs(x), BOUND) * TO_BASE_TWO
    rounded = power + UP
    f = power - (rounded - UP)
    bits = (float32(rounded).view(whole) << MANTISSA_BITS) + EXPONENT_OF_ONE
    e = (ONE + f * (E1 + f * (E2 + f * (E3 + f * (E4 + f * E5))))) * whole(bits).view(float32)
    return np.copysign((ONE - e) / (ONE + e), x)


@contracted
def _write_vector(a, c, p, start, end, vector):
    """The vector of the span whose units' numbers begin at start and end."""
    for k in range(len(vector)):
        vector[k] = _tanh(a[start + k] + c[end + k] + p[start + k] * p[end + k])


@reordered
def _product(vector, factors, at):
    """The vector's product with factors[at:]."""
    product = float32(0)
    for k in range(len(vector)):
        product += vector[k] * factors[at + k]
    return product


@contracted
def _write_through(vector, pull, at, u, weight, delta, through):
    """The gradient at a_i + c_j + p_i * p_j."""
    for k in range(len(vector)):
        through[k] = (ONE - vector[k] * vector[k]) * (weight * pull[at + k] + delta * u[k])


@contracted
def _add(values, into, start):
    for k in range(len(values)):
        into[start + k] += values[k]


@contracted
def _add_times(values, factor, into):
    for k in range(len(values)):
        into[k] += factor * values[k]


@contracted
def _add_product(values, factors, at, into, start):
    for k in range(len(values)):
        into[start + k] += values[k] * factors[at + k]


@compiled
def sum_text(a, c, p, u, unit, latest, squared, known, max_width, width, weighted):
    """See `numba_loops.sum_text`."""
    length, n_units = len(unit), squared.shape[1]
    example = unit[0] // n_units
    highest, mass = LOWEST, 0.0
    vector, strip = np.empty(width, float32), np.empty(width, float32)
    for i in range(length):
        strip[:] = 0
        for j in range(i, length):
            if unit[j] - unit[i] >= max_width:
                break
            if unit[i] > latest[unit[j]]:
                continue
            x, y = unit[i] % n_units, unit[j] % n_units
            _write_vector(a, c, p, unit[i] * width, unit[j] * width, vector)
            if not known:
                squared[example, x, y] = _product(vector, u, 0)
            score = squared[example, x, y]
            if score > highest:
                falling = np.exp(highest - score)
                for k in range(width):
                    weighted[k] *= falling
                    strip[k] *= falling
                mass *= falling
                highest = float(score)
            weight = np.exp(score - highest)
            mass += weight
            _add_times(vector, float32(weight), strip)
        _add(strip, weighted, 0)
    return mass, highest


@compiled
def gradients_of_text(
    a, c, p, u, unit, latest, squared, normalisers, pulls, known, shifts, scored, max_width, width,
    a_grad, c_grad, p_grad, u_grad,
):  # fmt: skip
    """See `numba_loops.gradients_of_text`."""
    length, n_units = len(unit), squared.shape[1]
    example = unit[0] // n_units
    at, normaliser, shift = example * width, normalisers[example], shifts[example]
    vector, through, strip = np.empty(width, float32), np.empty(width, float32), np.empty(width, float32)
    for i in range(length):
        strip[:] = 0
        start = unit[i] * width
        for j in range(i, length):
            if unit[j] - unit[i] >= max_width:
                break
            if unit[i] > latest[unit[j]]:
                continue
            x, y, end = unit[i] % n_units, unit[j] % n_units, unit[j] * width
            _write_vector(a, c, p, start, end, vector)
            weight, delta = float32(np.exp(squared[example, x, y] - normaliser)), float32(0)
            if scored:
                delta = float32(known[example, x, y] + weight * (_product(vector, pulls, at) + shift))
                _add_times(vector, delta, strip)
            _write_through(vector, pulls, at, u, weight, delta, through)
            _add(through, a_grad, start)
            _add(through, c_grad, end)
            _add_product(through, p, end, p_grad, start)
            _add_product(through, p, start, p_grad, end)
        _add(strip, u_grad, 0)
