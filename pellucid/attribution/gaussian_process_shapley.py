"""Gaussian process Shapley values: those of the game that a Gaussian process expects after the model has read some
coalitions.

Our own method. Kriging as in Rasmussen & Williams (2006), "Gaussian Processes for Machine Learning", equations 2.23 and
2.24; Shapley values from interactions as in Grabisch, Marichal & Roubens (2000), "Equivalent Representations of Set
Functions".
"""

from collections.abc import Iterator
from functools import partial
from itertools import chain, islice
from math import isqrt

import numpy as np
import scipy.linalg
import torch
from scipy.linalg import cho_factor, cho_solve

from pellucid.attribution.shapley_sampling import shapley_values
from pellucid.attribution.shared.coalition_game import (
    Fit,
    Question,
    all_coalitions,
    coalitions,
    fit_r2,
    fitted,
    games,
    relative_error,
)
from pellucid.base.checks import between
from pellucid.base.kinds import attributions
from pellucid.run.batch import Operator
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.target import Explainable
from pellucid.text.units import Kind

MOST_SAMPLES = 4096  # equations have the square of half as many numbers


@attributions.add(
    needs=frozenset(),
    cost="n_samples runs of the model",
    complete=True,
    random=True,
    units="word",
    usual=False,
)
def gaussian_process_shapley(
    run: ForwardPass,
    target: Explainable,
    *,
    unit: Kind = "word",
    n_samples: int = 128,
    tolerance: float | None = None,
    operator: Operator = "absent",
) -> Scores:
    """Share the target's rise, from the text without its units to the text, among the units: expected Shapley values.

    unit: what is taken out and scored. n_samples: coalitions that the model is evaluated on, besides all and none, in
    pairs of a coalition and its complement, 8 to 4,096: first those of a Hadamard matrix, then single units, then
    random ones of evenly spread sizes. Texts with no more coalitions are computed exactly. tolerance: None, or a share
    of the largest score: a text's coalitions are doubled until the scores' standard error is at most that, or doubling
    would pass 4,096; there are at least twice as many as units then. operator: how units are
    taken out; see `pellucid.run.batch.edit`.

    Diagnostics: `exact` (1 where all coalitions fit, else 0), `n_samples`, `fit_r2` (how well sums of scores reproduce
    the values of coalitions), `standard_error` (the standard deviation that the process leaves, root mean square over
    the units, in the target's unit) and `relative_error` (that divided by the largest score).
    """
    between("n_samples", n_samples, 8, MOST_SAMPLES)
    game = games(run, target, unit, operator)

    def question(text: int, count: int) -> Question:
        # Of fewer than two coalitions a unit the error is stated too small.
        fewest = 0 if tolerance is None else min(2 * game.sizes[text], MOST_SAMPLES)
        generator = run.generator_of(text, "gaussian_process_shapley")
        present = _coalitions(game.sizes[text], max(count, fewest), generator)
        return present, partial(_fitted, present)

    return fitted(game, n_samples, tolerance, MOST_SAMPLES, question)


def _coalitions(players: int, n_samples: int, generator: torch.Generator) -> np.ndarray:
    """[coalition player]: all of them where they fit; else all players, the first of each pair, and the complements of
    these.
    """
    if 2**players - 2 <= n_samples:
        return all_coalitions(players)
    first = np.array(list(islice(_pairs(players, generator), n_samples // 2)))
    present = np.concatenate([np.ones((1, players), dtype=bool), first])
    return np.concatenate([present, ~present])


def _pairs(players: int, generator: torch.Generator) -> Iterator[np.ndarray]:
    """An endless sequence of coalitions [player], of each pair of complements one, none twice, until there are no
    more.
    """
    seen = {np.ones(players, dtype=bool).tobytes(), np.zeros(players, dtype=bool).tobytes()}
    singles = (np.arange(players) == player for player in _order(players, generator))
    drawn = coalitions(players, generator, lambda numbers: 1 + (numbers * (players - 1)).astype(int))
    for present in chain(_balanced(players, generator), singles, drawn):
        if present.tobytes() not in seen:
            seen |= {present.tobytes(), (~present).tobytes()}
            yield present


def _balanced(players: int, generator: torch.Generator) -> Iterator[np.ndarray]:
    """Coalitions of about half of the players, in which every two are as often together as apart: a matrix's rows, in
    any order.
    """
    matrix = hadamard(players) > 0
    columns = _order(len(matrix), generator)[:players]
    return (matrix[1 + row, columns] for row in _order(len(matrix) - 1, generator))


def _order(count: int, generator: torch.Generator) -> np.ndarray:
    return torch.rand(count, generator=generator, dtype=torch.float64).argsort().numpy()


def _fitted(present: np.ndarray, values: np.ndarray) -> Fit:
    """The scores [player] and their diagnostics; values: [coalition], as from `_coalitions`."""
    players = present.shape[1]
    exact = len(present) == 2**players
    if exact:
        scores, error, none = shapley_values(values), 0.0, values[0]
    else:
        half = len(present) // 2
        odd, none = (values[:half] - values[half:]) / 2, values[half]
        scores, error = expected_shapley_values(present[:half], odd)
    return scores, {
        "exact": float(exact),
        "n_samples": float(max(0, len(present) - 2)),
        "fit_r2": fit_r2(values, none + present @ scores, np.ones(len(values))),
        "standard_error": error,
        "relative_error": relative_error(error, scores),
    }


# A Gaussian process over games, fitted to pairs of a coalition and its complement, and the Shapley values that it
# expects.
#
# Over coalitions x of 1 (present) and -1 (absent) every game is a sum of interactions f(S) * product of x over S. The
# Shapley value of a player is 2 / |S| * f(S), summed over the sets S of odd size that it belongs to, so only the odd
# part counts: half the difference of a coalition and its complement. A priori interactions are independent, those of
# a size are equally large, and all of a size together vary as `_variances` says. So expected values are sums of what
# is known, with weights that depend on the coalitions alone.

LARGEST = 15  # players of an interaction; larger ones count as none
# How much all interactions of three players vary, those of one having 1, and those of each further two players, of the
# size before. Chosen on five sentences of SST-2; errors hardly differ between 0.0001 and 0.03 and between 0.1 and 0.3,
# the errors that are told do.
TRIPLES, LARGER = 0.01, 0.2
JITTER = 1e-6  # of the variance: rounding of the model's answers


def expected_shapley_values(present: np.ndarray, odd: np.ndarray) -> tuple[np.ndarray, float]:
    """The expected Shapley values [player], and the standard deviation that is left of them, root mean square over
    players.

    present: [pair player] bool, one coalition of each pair, none twice, first that of all players. odd: [pair], half
    the difference of the target's values of coalition and complement.
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
    return scores + (2 * odd[0] - scores.sum()) / players, float(np.sqrt(left))  # the sum is known without rounding


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
    """[...]: the weighted sum of mean products over sets of these orders, one order after another, since each is as
    large as the result.
    """
    weight_of, total = dict(zip(orders.tolist(), weights.tolist(), strict=True)), np.zeros(negative.shape)
    for order, mean in enumerate(_mean_products(negative, players)):
        total += weight_of.get(order, 0.0) * mean
    return total


def _mean_products(negative: np.ndarray, players: int) -> Iterator[np.ndarray]:
    """[...] for 0, 1, ... players: the mean product over all sets of so many, of whom `negative` are -1 (Krawtchouk's
    polynomials).
    """
    before, mean = np.zeros(negative.shape), np.ones(negative.shape)
    for order in range(min(players, LARGEST) + 1):
        yield mean
        if order < players:
            before, mean = mean, ((players - 2 * negative) * mean - order * before) / (players - order)


# Hadamard matrices: rows of 1 and -1, each orthogonal to every other.
#
# Of powers of two by Sylvester's construction, of q + 1 for primes q = 3 modulo 4 by Paley's (1933), "On Orthogonal
# Matrices".


def hadamard(least: int) -> np.ndarray:
    """[order order], the smallest of those two kinds whose order is at least `least`; all of its first row is 1."""
    order = next(index for index in range(max(1, least), 2 * least + 2) if _is_power_of_two(index) or _is_paley(index))
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


def _is_power_of_two(count: int) -> bool:
    return count & (count - 1) == 0


def _is_paley(order: int) -> bool:
    prime = order - 1
    return prime % 4 == 3 and all(prime % divisor for divisor in range(2, isqrt(prime) + 1))
