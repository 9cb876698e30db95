"""Hadamard matrices: rows of 1 and -1, each orthogonal to every other.

Of powers of two by Sylvester's construction, of q + 1 for primes q = 3 modulo 4 by Paley's (1933), "On Orthogonal Matrices".
"""

from math import isqrt

import numpy as np
import scipy.linalg


def hadamard(least: int) -> np.ndarray:
    """[order order], the smallest of those two kinds whose order is at least `least`; all of its first row is 1."""
    order = next(
        number
        for number in range(max(1, least), 2 * least + 2)
        if _is_power_of_two(number) or _is_paley(number)
    )
    matrix = scipy.linalg.hadamard(order) if _is_power_of_two(order) else _paley(order - 1)
    return np.asarray(matrix * matrix[:1])  # a column whose sign is changed stays orthogonal to the others


def _paley(prime: int) -> np.ndarray:
    """[prime + 1, prime + 1]: the identity and the signs of squares modulo the prime."""
    numbers = np.arange(prime)
    is_square = np.isin(numbers, numbers[1:] ** 2 % prime)
    signs = np.where(is_square, 1, -1)
    signs[0] = 0
    matrix = np.ones((prime + 1, prime + 1), dtype=np.int64)
    matrix[1:, 0] = -1
    matrix[1:, 1:] = signs[(numbers[:, None] - numbers) % prime]
    matrix[np.diag_indices(prime + 1)] += np.r_[0, np.ones(prime, dtype=np.int64)]
    return matrix


def _is_power_of_two(number: int) -> bool:
    return number & (number - 1) == 0


def _is_paley(order: int) -> bool:
    prime = order - 1
    return prime % 4 == 3 and all(prime % divisor for divisor in range(2, isqrt(prime) + 1))
