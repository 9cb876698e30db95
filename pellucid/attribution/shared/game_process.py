"""A Gaussian process over games, fitted to pairs of a coalition and its complement, and the Shapley values that it expects.

Over coalitions x of 1 (present) and -1 (absent) every game is a sum of interactions f(S) * product of x over S. The Shapley
value of a player is 2 / |S| * f(S), summed over the sets S of odd size that it belongs to, so only the odd part counts: half the
difference of a coalition and its complement. A priori interactions are independent, those of a size are equally large, and all of a size
together vary as `_variances` says. So expected values are sums of what is known, with weights that depend on the coalitions alone.
"""

from collections.abc import Iterator
from math import isqrt

import numpy as np
import scipy.linalg
from scipy.linalg import cho_factor, cho_solve

LARGEST = 15  # players of an interaction; larger ones count as none
# How much all interactions of three players vary, those of one having 1, and those of each further two players, of the size before.
# Chosen on five sentences of SST-2; errors hardly differ between 0.0001 and 0.03 and between 0.1 and 0.3, the errors that are told do.
TRIPLES, LARGER = 0.01, 0.2
JITTER = 1e-6  # of the variance: rounding of the model's answers


def expected_shapley_values(present: np.ndarray, odd: np.ndarray) -> tuple[np.ndarray, float]:
    """The expected Shapley values [player], and the standard deviation that is left of them, root mean square over players.

    present: [pair player] bool, one coalition of each pair, none twice, first that of all players. odd: [pair], half the difference
    of the target's values of coalition and complement.
    """
    players = present.shape[1]
    orders = np.arange(1, min(players, LARGEST) + 1, 2)
    weights = _variances(orders)
    belongs = orders / players  # the share of a size's sets that one player belongs to
    factor = cho_factor(_between_pairs(present, orders, weights))
    with_players = _with_players(present, orders, 2 * weights * belongs / orders)
    solved = cho_solve(factor, np.column_stack([odd, with_players]))
    variance = odd @ solved[:, 0] / len(odd)
    known = (with_players * solved[:, 1:]).sum(0)
    left = variance * np.maximum((4 * weights * belongs / orders**2).sum() - known, 0).mean()
    scores = with_players.T @ solved[:, 0]
    return scores + (2 * odd[0] - scores.sum()) / players, float(
        np.sqrt(left)
    )  # the sum is known without rounding


def _variances(orders: np.ndarray) -> np.ndarray:
    """[order]: the share of the variance that all interactions of so many players have."""
    variances = np.where(orders == 1, 1.0, TRIPLES * LARGER ** ((orders - 3) / 2))
    return np.asarray(variances / variances.sum())


def _between_pairs(present: np.ndarray, orders: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """[pair pair]: covariances of the odd parts of two coalitions, as shares of the variance."""
    signs = np.where(present, 1.0, -1.0)
    players = present.shape[1]
    return _summed((players - signs @ signs.T) / 2, players, orders, weights) + JITTER * np.eye(len(present))


def _with_players(present: np.ndarray, orders: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """[pair player]: covariances of a coalition's odd part and a player's Shapley value."""
    absent_others = (~present).sum(1, keepdims=True) - ~present
    mean = _summed(absent_others, present.shape[1] - 1, orders - 1, weights)
    return mean * np.where(present, 1.0, -1.0)


def _summed(negative: np.ndarray, players: int, orders: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """[...]: the weighted sum of mean products over sets of these orders, one order after another, since each is as large as the result."""
    weight_of, total = dict(zip(orders.tolist(), weights.tolist(), strict=True)), np.zeros(negative.shape)
    for order, mean in enumerate(_mean_products(negative, players)):
        total += weight_of.get(order, 0.0) * mean
    return total


def _mean_products(negative: np.ndarray, players: int) -> Iterator[np.ndarray]:
    """[...] for 0, 1, ... players: the mean product over all sets of so many, of whom `negative` are -1 (Krawtchouk's polynomials)."""
    before, mean = np.zeros(negative.shape), np.ones(negative.shape)
    for order in range(min(players, LARGEST) + 1):
        yield mean
        if order < players:
            before, mean = mean, ((players - 2 * negative) * mean - order * before) / (players - order)


# Hadamard matrices: rows of 1 and -1, each orthogonal to every other.
#
# Of powers of two by Sylvester's construction, of q + 1 for primes q = 3 modulo 4 by Paley's (1933), "On
# Orthogonal Matrices".


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
