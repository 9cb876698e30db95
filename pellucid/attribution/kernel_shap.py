"""KernelSHAP and LIME: a linear model of what the answer is with words taken out."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations, islice
from math import comb

import numpy as np
import torch
from scipy.linalg import lstsq

from pellucid.attribution.shared.coalition_game import (
    Fit,
    Question,
    Sample,
    all_coalitions,
    coalitions,
    fit_r2,
    fitted,
    games,
    relative_error,
    stability,
    standard_error,
    surrogate,
)
from pellucid.base.checks import at_least
from pellucid.base.kinds import attributions
from pellucid.run.batch import Operator
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.target import Explainable
from pellucid.text.units import Kind

MOST_SAMPLES = 16_384  # that a tolerance may ask for


@attributions.add(
    needs=frozenset(),
    cost="n_samples runs of the model",
    complete=True,
    random=True,
    units="word",
    aliases={"shap"},
)
def kernel_shap(
    run: ForwardPass,
    target: Explainable,
    *,
    unit: Kind = "word",
    n_samples: int = 512,
    tolerance: float | None = None,
    operator: Operator = "absent",
) -> Scores:
    """Share the target's rise, from the text without its units to the text, among the units: Shapley values by a fit.

    Shapley values as the weighted linear fit to the target's values of coalitions.

    Source: Lundberg & Lee (2017), "A Unified Approach to Interpreting Model Predictions", theorem 2; a
    coalition and its complement together as in Covert & Lee (2021), "Improving KernelSHAP: Practical
    Shapley Value Estimation Using Linear Regression".

    unit: what is taken out and scored. n_samples: coalitions that the model is evaluated on, besides all and none.
    Those of the most and the fewest units come first, whole sizes while they fit; the rest are drawn in pairs of a
    coalition and its complement. tolerance: None, or a share of the largest score: a text's coalitions are doubled
    until the scores' standard error is at most that, or doubling would pass 16,384. operator: how units are taken out;
    see `pellucid.run.batch.edit`.

    Diagnostics: `exact` (1 where all coalitions fit, else 0), `n_samples`, `fit_r2` (how well sums of scores reproduce
    the values of coalitions), `standard_error` (root mean square over the units, in the target's unit),
    `relative_error` (that divided by the largest score) and `stability` (the correlation with another run's scores),
    the last three from two halves of the draws.
    """
    at_least("n_samples", n_samples, 8)
    game = games(run, target, unit, operator)

    def question(text: int, count: int) -> Question:
        plan = _plan(game.sizes[text], count, run.generator_of(text, "kernel_shap"))
        return plan.coalitions, partial(_fitted, plan)

    return fitted(game, n_samples, tolerance, MOST_SAMPLES, question)


@dataclass(frozen=True)
class _Plan:
    """present: [pair player] bool, one coalition of each pair, first those of whole sizes; weights: [pair]."""

    present: np.ndarray
    weights: np.ndarray
    whole: int

    @property
    def coalitions(self) -> np.ndarray:
        """[2 + 2 pairs, player]: none, all, the first of each pair, their complements."""
        players = self.present.shape[1]
        none = np.zeros((1, players), dtype=bool)
        return np.concatenate([none, ~none, self.present, ~self.present])

    def half(self, offset: int) -> "_Plan":
        """The pairs of whole sizes, and every second drawn one with twice its weight."""
        drawn = slice(self.whole + offset, None, 2)
        weights = np.concatenate([self.weights[: self.whole], 2 * self.weights[drawn]])
        return _Plan(np.concatenate([self.present[: self.whole], self.present[drawn]]), weights, self.whole)


def _plan(players: int, n_samples: int, generator: torch.Generator) -> _Plan:
    """Which pairs to evaluate, and how much each counts: the kernel's weights, which sum to 1 over all pairs."""
    sizes = np.arange(1, players // 2 + 1)
    mass = 1 / (sizes * (players - sizes)) * np.where(2 * sizes == players, 0.5, 1)
    mass /= mass.sum() or 1
    pairs = [comb(players, size) // (2 if 2 * size == players else 1) for size in sizes.tolist()]
    n_left, whole = n_samples // 2, 0
    # All pairs of a size are evaluated where each would be drawn about once or more.
    while whole < len(sizes) and n_left * mass[whole] >= pairs[whole] * mass[whole:].sum() * (1 - 1e-9):
        n_left -= pairs[whole]
        whole += 1
    known = [(row, mass[k] / pairs[k]) for k in range(whole) for row in islice(_subsets(players, k + 1), pairs[k])]
    drawn = _drawn(players, n_left, mass, whole, generator) if whole < len(sizes) else []
    present = np.array([*(row for row, _ in known), *drawn], dtype=bool).reshape(-1, players)
    share = mass[whole:].sum() / max(len(drawn), 1)
    return _Plan(present, np.array([*(weight for _, weight in known), *[share] * len(drawn)]), len(known))


def _subsets(players: int, size: int) -> Iterator[np.ndarray]:
    """All sets of that size; of half the players, the first half of the sets holds no set's complement."""
    return (np.isin(np.arange(players), members) for members in combinations(range(players), size))


def _drawn(players: int, count: int, mass: np.ndarray, whole: int, generator: torch.Generator) -> list[np.ndarray]:
    """The next coalitions of a text's stream, without those of sizes that are there already."""
    edges = np.cumsum(mass)
    sizes_at = lambda numbers: 1 + np.searchsorted(edges, numbers, "right").clip(max=len(mass) - 1)  # noqa: E731
    return list(islice(coalitions(players, generator, sizes_at, fewest=whole + 1), count))


def _fitted(plan: _Plan, values: np.ndarray) -> Fit:
    """The scores [player] and their diagnostics; values: in the order of the plan's coalitions."""
    none, rise, pairs = values[0], values[1] - values[0], len(plan.present)
    differences = values[2 : 2 + pairs] - values[2 + pairs :]
    scores = _solved(plan, differences, rise)
    drawn = pairs - plan.whole
    halves = [
        _solved(
            plan.half(n),
            np.concatenate([differences[: plan.whole], differences[plan.whole + n :: 2]]),
            rise,
        )
        for n in (0, 1)
    ]
    error = standard_error(*halves) if drawn else 0.0
    doubled = np.concatenate([[0, 0], plan.weights, plan.weights]) if pairs else np.ones(2)
    return scores, {
        "exact": float(not drawn),
        "n_samples": 2.0 * pairs,
        "fit_r2": fit_r2(values, none + plan.coalitions @ scores, doubled),
        "standard_error": error,
        "relative_error": relative_error(error, scores),
        "stability": stability(*halves) if drawn else 1.0,
    }


def _solved(plan: _Plan, differences: np.ndarray, rise: float) -> np.ndarray:
    """[player]: the scores that sum to the rise and fit the differences within pairs best.

    Under that condition the pairs' means do not depend on the scores, so the differences are all there is to fit. Where
    there are too few of them, the scores that lie nearest to equal ones.
    """
    players = plan.present.shape[1]
    if not len(plan.present):
        return np.full(players, rise / players)
    signs = np.where(plan.present, 1.0, -1.0)
    total = signs.sum(1)
    root = np.sqrt(plan.weights)
    apart = signs - total[:, None] / players  # what sums to 0 over the players
    matrix, values = root[:, None] * apart, root * (differences - total * rise / players)
    rank_tolerance = np.finfo(float).eps * max(matrix.shape)
    # By QR, which for a text of forty words takes about half as long as numpy's SVD.
    apart_from_equal = lstsq(matrix, values, rank_tolerance, lapack_driver="gelsy", check_finite=False)[0]
    return rise / players + apart_from_equal


@attributions.add(needs=frozenset(), cost="n_samples runs of the model", random=True, units="word")
def lime(
    run: ForwardPass,
    target: Explainable,
    *,
    unit: Kind = "word",
    n_samples: int = 512,
    tolerance: float | None = None,
    operator: Operator = "absent",
    kernel_width: float = 25.0,
    alpha: float = 1.0,
) -> Scores:
    """The coefficients of a ridge regression that predicts the target from which units are present, near the text.

    A linear model fitted to the target's values of the text with units taken away at random.

    Source: Ribeiro, Singh & Guestrin (2016), "Why Should I Trust You?", equation 2, with the settings
    for text of their `lime` package: ridge regression, a cosine kernel of width 25, and a number of
    absent units that is drawn from 1 to all.

    unit: what is taken out and scored; a word that stands twice has two scores. n_samples: texts that the model is
    evaluated on, the whole one among them; where all coalitions are fewer, each is evaluated once and counts as often
    as it would be drawn. tolerance: as for kernel_shap. operator: how units are taken out; see
    `pellucid.run.batch.edit`. kernel_width: how fast a
    sample's weight falls with its distance, 100 x (1 - cosine with the whole text). alpha: the ridge penalty. For the
    diagnostics see `pellucid.attribution.shared.coalition_game`.
    """
    at_least("n_samples", n_samples, 8)
    at_least("kernel_width", kernel_width, 1e-3)
    at_least("alpha", alpha, 0.0)
    game = games(run, target, unit, operator)

    def question(text: int, count: int) -> Question:
        sample = _sample(game.sizes[text], count, kernel_width, run.generator_of(text, "lime"))
        return sample.present, lambda values: surrogate(sample, values, alpha)

    return fitted(game, n_samples, tolerance, MOST_SAMPLES, question)


def _sample(players: int, n_samples: int, kernel_width: float, generator: torch.Generator) -> Sample:
    """The whole text, and texts without some units: all of them, or draws whose number of absent units is uniform."""
    if 1 << min(players, 60) <= n_samples:
        present = all_coalitions(players)[::-1]
        sizes = present.sum(1)
        expected = [(n_samples - 1) / players / comb(players, size) for size in sizes[1:].tolist()]
        return Sample(present, cosine_kernel(present, kernel_width) * np.array([1.0, *expected]), len(present))
    stream = coalitions(players, generator, lambda numbers: players - 1 - (numbers * players).astype(int))
    present = np.array([np.ones(players, dtype=bool), *islice(stream, n_samples - 1)])
    return Sample(present, cosine_kernel(present, kernel_width), 1)


def cosine_kernel(present: np.ndarray, width: float) -> np.ndarray:
    """[sample]: sqrt(exp(-distance² / width²)), with the distance 100 x (1 - cosine with all units present)."""
    distance = 100 * (1 - np.sqrt(present.mean(1)))
    return np.sqrt(np.exp(-((distance / width) ** 2)))
