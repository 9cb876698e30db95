"""Shapley sampling: what each unit adds to the units that come before it, averaged over orders of the units.

Castro, Gómez & Tejada (2009), "Polynomial calculation of the Shapley value based on sampling"; each order also
backwards as in Mitchell, Cooper, Frank & Holmes (2022), "Sampling Permutations for Shapley Value Estimation".
"""

from dataclasses import dataclass, field
from math import ceil, factorial
from typing import Literal, get_args

import numpy as np
import torch

from pellucid.attribution.shared.coalition_game import (
    MOST_ROWS,
    TRUSTED_ERROR,
    Games,
    all_coalitions,
    games,
    noise_caveats,
    relative_error,
)
from pellucid.base.checks import at_least, one_of
from pellucid.base.kinds import attributions, diagnostics
from pellucid.run.batch import Operator
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.target import Explainable
from pellucid.text.units import Kind

Draws = Literal["antithetic", "independent"]
EXACT_UNITS = 10
MOST_PERMUTATIONS = 20_000
FEWEST, FEWEST_BY_FOUR = 4, 8  # orders: an error is known from two draws or more
ADVICE = "raise n_permutations, or give a tolerance,"


@attributions.add(
    needs=frozenset(),
    cost="n_permutations runs of the model a word",
    complete=True,
    random=True,
    units="word",
)
def shapley_sampling(
    run: ForwardPass,
    target: Explainable,
    *,
    unit: Kind = "word",
    n_permutations: int = 24,
    tolerance: float | None = None,
    operator: Operator = "absent",
    draws: Draws = "antithetic",
) -> Scores:
    """Share the target's rise, from the text without its units to the text, among the units by Shapley's axioms.

    unit: what is taken out and scored. n_permutations: orders drawn, at least 4, with a tolerance at least 8. Texts of
    up to 10 units whose coalitions are no more than these orders would read are computed exactly: of up to 7 units by
    default, of 10 from 114 orders on or with a tolerance. tolerance: None, or a share of the largest score: orders are
    added until the scores' standard error is at most that, or 20,000 are drawn. operator: how units are taken out; see
    `pellucid.run.batch.edit`. draws: "antithetic" (four orders at a time: one, the same with its halves swapped, and
    both backwards; of fewer than 8 orders two at a time, one and the same backwards; exact where units act alone or in
    pairs) or "independent".

    Diagnostics: `exact` (1 or 0), `n_permutations`, `standard_error` (root mean square over the units, in the target's
    unit) and `relative_error` (that divided by the largest score).
    """
    at_least("n_permutations", n_permutations, FEWEST if tolerance is None else FEWEST_BY_FOUR)
    if tolerance is not None:
        at_least("tolerance", tolerance, 1e-6)
    one_of("draws", draws, get_args(Draws))
    game = games(run, target, unit, operator)
    together = 1 if draws == "independent" else 4 if n_permutations >= FEWEST_BY_FOUR else 2
    allowed = TRUSTED_ERROR if tolerance is None else tolerance
    samples = [
        _Sample(size, together, generator, n_permutations)
        for size, generator in zip(game.sizes, run.generators("shapley_sampling"), strict=True)
    ]
    exact_values = _exact(game, n_permutations if tolerance is None else MOST_PERMUTATIONS)
    _draw_until(game, samples, [n for n, exact in enumerate(exact_values) if exact is None], tolerance)
    texts = list(zip(exact_values, samples, strict=True))
    return Scores(
        game.scores(sample.mean if exact is None else exact for exact, sample in texts),
        units=game.units,
        diagnostics=tuple(_diagnostics(exact, sample) for exact, sample in texts),
        caveats=tuple(
            noise_caveats(sample.relative_error, ADVICE, allowed) if exact is None else () for exact, sample in texts
        ),
    )


@diagnostics.add(worst="highest")
def n_permutations(count: float) -> str:
    """The number of orders that were drawn; 0 where a text was computed exactly."""
    return ""


@dataclass
class _Sample:
    """One text's orders so far. A draw is an order, or two or four of them; sums are over draws, [player]."""

    players: int
    together: int
    generator: torch.Generator
    wanted: int
    count: int = 0
    mean: np.ndarray = field(init=False)
    squares: np.ndarray = field(init=False)  # sum of squared distances from the mean

    def __post_init__(self) -> None:
        self.mean, self.squares = np.zeros(self.players), np.zeros(self.players)

    @property
    def missing(self) -> int:
        """Draws still to be made: whole ones, of no more orders than are wanted."""
        return self.wanted // self.together - self.count

    def draw(self, most: int) -> np.ndarray:
        """[order player]: the orders of the next draws."""
        count = min(self.missing, most)
        keys = [torch.rand(self.players, generator=self.generator, dtype=torch.float64) for _ in range(count)]
        orders = np.array([key.argsort().numpy() for key in keys]).reshape(count, self.players)
        if self.together == 1:
            return orders
        if self.together == 2:
            return np.stack((orders, orders[:, ::-1]), 1).reshape(-1, self.players)
        swapped = np.roll(orders, self.players // 2, axis=1)  # who came early comes late, in other company
        four = (orders, orders[:, ::-1], swapped, swapped[:, ::-1])
        return np.stack(four, 1).reshape(-1, self.players)

    def add(self, gains: np.ndarray) -> None:
        """Add the gains of players [order player] to the sums; the orders of one draw are averaged."""
        for gain in gains.reshape(-1, self.together, self.players).mean(1):
            self.count += 1
            apart = gain - self.mean
            self.mean += apart / self.count
            self.squares += apart * (gain - self.mean)

    @property
    def error(self) -> float:
        """The standard error of the players' means: root mean square over players."""
        return float(np.sqrt(self.squares.mean() / (self.count - 1) / self.count))

    @property
    def relative_error(self) -> float:
        """The standard error as a share of the largest score."""
        return relative_error(self.error, self.mean)

    def unfinished(self, tolerance: float | None) -> bool:
        """Whether more must be drawn; the number needed is estimated from the error, and at most doubled."""
        if self.missing > 0:
            return True
        if tolerance is None or self.relative_error <= tolerance or self.wanted >= MOST_PERMUTATIONS:
            return False
        needed = ceil(self.wanted * (self.relative_error / tolerance) ** 2)
        self.wanted = min(max(needed, self.wanted + self.together), 2 * self.wanted, MOST_PERMUTATIONS)
        return True


def _draw_until(game: Games, samples: list[_Sample], open_: list[int], tolerance: float | None) -> None:
    """Draw orders for these texts until each has as many as it needs."""
    while open_:
        _grow(game, samples, open_)
        open_ = [n for n in open_ if samples[n].unfinished(tolerance)]


def _grow(game: Games, samples: list[_Sample], open_: list[int]) -> None:
    """One round of draws for the texts that need some, few enough at once that memory stays flat."""
    orders = [np.zeros((0, size), dtype=np.int64) for size in game.sizes]
    for n in open_:
        most = MOST_ROWS // (len(open_) * samples[n].together * game.sizes[n])
        orders[n] = samples[n].draw(max(1, most))
    values = game.values([_prefixes(order) for order in orders])
    for n in open_:
        gains = np.diff(values[n].reshape(len(orders[n]), -1), axis=1)
        samples[n].add(np.take_along_axis(gains, orders[n].argsort(1), 1))


def _prefixes(orders: np.ndarray) -> np.ndarray:
    """[order player] -> [order * (players + 1), player] bool: who is present after 0, 1, ... all steps."""
    positions = orders.argsort(1)
    steps = np.arange(orders.shape[1] + 1)
    return (positions[:, None] < steps[None, :, None]).reshape(-1, orders.shape[1])


def _exact(game: Games, orders: int) -> list[np.ndarray | None]:
    """For each short text its Shapley values [player], by all coalitions, where so many orders would read as many of
    them.
    """
    coalitions = [
        all_coalitions(size) if _is_cheaper(size, orders) else np.zeros((0, size), dtype=bool) for size in game.sizes
    ]
    return [shapley_values(values) if len(values) else None for values in game.values(coalitions)]


def _is_cheaper(players: int, orders: int) -> bool:
    """Whether all coalitions are no more than those that orders read: each its beginnings, of which none and all are
    shared.
    """
    return players <= EXACT_UNITS and 2**players <= orders * (players - 1) + 2


def shapley_values(values: np.ndarray) -> np.ndarray:
    """[2 ** players] values, in the order of `all_coalitions` -> [player]: each one's mean gain over all orders."""
    players = len(values).bit_length() - 1
    numbers, sizes = np.arange(len(values)), all_coalitions(players).sum(1)
    weights = np.array([factorial(s) * factorial(players - s - 1) for s in range(players)]) / factorial(players)
    scores = np.zeros(players)
    for player in range(players):
        without = numbers[numbers >> player & 1 == 0]
        scores[player] = weights[sizes[without]] @ (values[without | 1 << player] - values[without])
    return scores


def _diagnostics(exact: np.ndarray | None, sample: _Sample) -> dict[str, float]:
    if exact is not None:
        return {"exact": 1.0, "n_permutations": 0.0, "standard_error": 0.0, "relative_error": 0.0}
    return {
        "exact": 0.0,
        "n_permutations": float(sample.count * sample.together),
        "standard_error": sample.error,
        "relative_error": sample.relative_error,
    }
