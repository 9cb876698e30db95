"""A weighted ridge regression that predicts the target's value from which units are present, and how far to trust it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pellucid.attribution.shared.coalition_game import Games
from pellucid.attribution.shared.sampling_error import (
    noise_caveats,
    relative_error,
    stability,
    standard_error,
)
from pellucid.run.model import Scores

NOTHING = 1e-12  # a penalty that is smaller beside the samples is lost in rounding


@dataclass(frozen=True)
class Sample:
    """Coalitions of one text: present [sample player] bool, weights [sample].

    fixed: how many of the first ones are not drawn at random.
    """

    present: np.ndarray
    weights: np.ndarray
    fixed: int

    @property
    def exact(self) -> bool:
        """Whether no coalition was drawn at random."""
        return self.fixed == len(self.present)


@dataclass(frozen=True)
class Surrogate:
    """scores: [player], the regression's coefficients; diagnostics: how far to trust them."""

    scores: np.ndarray
    diagnostics: dict[str, float]

    @property
    def caveats(self) -> tuple[str, ...]:
        """What the diagnostics mean."""
        return sample_caveats(self.diagnostics)


def fitted(game: Games, samples: list[Sample], alpha: float) -> Scores:
    """The scores of every text's `surrogate` on the coalitions of its sample."""
    values = game.values([sample.present for sample in samples])
    fits = [surrogate(sample, of_text, alpha) for sample, of_text in zip(samples, values, strict=True)]
    return Scores(
        game.scores(fit.scores for fit in fits),
        units=game.units,
        diagnostics=tuple(fit.diagnostics for fit in fits),
        caveats=tuple(fit.caveats for fit in fits),
    )


def surrogate(sample: Sample, values: np.ndarray, alpha: float) -> Surrogate:
    """The ridge regression of a sample's values [sample] on which units are present, with penalty alpha.

    Diagnostics: `exact`, `n_samples`, `fit_r2`, and from two halves of the draws `standard_error` (root mean square over
    players), `relative_error` (that divided by the largest score) and `stability` (the correlation with the scores of
    another run).
    """
    scores, intercept = ridge(sample.present, values, sample.weights, alpha)
    halves = [_half(sample, values, alpha, number) for number in (0, 1)]
    error = 0.0 if sample.exact else standard_error(*halves)
    return Surrogate(
        scores,
        {
            "exact": float(sample.exact),
            "n_samples": float(len(values)),
            "fit_r2": fit_r2(values, intercept + sample.present @ scores, sample.weights),
            "standard_error": error,
            "relative_error": relative_error(error, scores),
            "stability": 1.0 if sample.exact else stability(*halves),
        },
    )


def _half(sample: Sample, values: np.ndarray, alpha: float, number: int) -> np.ndarray:
    """The scores by every second drawn coalition, each with twice its weight, so that alpha counts as before."""
    half = np.r_[: sample.fixed, sample.fixed + number : len(values) : 2]
    doubled = np.where(np.arange(len(values)) < sample.fixed, 1, 2) * sample.weights
    return ridge(sample.present[half], values[half], doubled[half], alpha)[0]


def ridge(
    present: np.ndarray, values: np.ndarray, weights: np.ndarray, alpha: float
) -> tuple[np.ndarray, float]:
    """The coefficients [player] and the intercept that minimise the weighted squares plus alpha times the coefficients' squares.

    Of several that do, with alpha 0, the shortest coefficients. scikit-learn's `Ridge` gives the same; for hundreds of samples of tens of
    units it takes ten times as long, which counts where a network reads them in the time of a fit.
    """
    share = weights / (weights.sum() or 1.0)
    mean, level = share @ present, float(share @ values)
    scores = _solved(np.sqrt(weights)[:, None] * (present - mean), np.sqrt(weights) * (values - level), alpha)
    return scores, level - float(mean @ scores)


def _solved(matrix: np.ndarray, values: np.ndarray, alpha: float) -> np.ndarray:
    """The x that minimises |matrix x - values|² + alpha |x|², by the smaller of the two systems of equations."""
    if alpha <= NOTHING * np.square(matrix).sum():
        return np.linalg.lstsq(matrix, values, rcond=None)[0]
    n_samples, players = matrix.shape
    if n_samples < players:
        return matrix.T @ np.linalg.solve(matrix @ matrix.T + alpha * np.eye(n_samples), values)
    return np.linalg.solve(matrix.T @ matrix + alpha * np.eye(players), matrix.T @ values)


# What to say of scores that were fitted to a number of coalitions.


def sample_caveats(diagnostics: Mapping[str, float]) -> tuple[str, ...]:
    """The caveats that follow from `relative_error` and `fit_r2`."""
    noise = noise_caveats(diagnostics["relative_error"], "raise n_samples")
    return noise + fit_caveats(diagnostics["fit_r2"])


# How well a sum of single scores reproduces the target's values of coalitions.


TRUSTED_R2 = 0.5


def fit_r2(values: np.ndarray, predicted: np.ndarray, weights: np.ndarray) -> float:
    """1 - weighted squared residuals / weighted squared distances from the mean; at most 1, and 1 where nothing varies."""
    mean = weights @ values / (weights.sum() or 1.0)
    spread = np.sum(weights * (values - mean) ** 2)
    residual = np.sum(weights * (values - predicted) ** 2)
    return float(1 - residual / spread) if spread > 1e-20 else 1.0


def fit_caveats(share: float) -> tuple[str, ...]:
    """What to say when a sum of single scores reproduces too little."""
    if share >= TRUSTED_R2:
        return ()
    return (
        f"A sum of single scores reproduces only {max(share, 0.0):.0%} of how the answer varies when units are taken "
        "away: units act together here, which scores one by one do not show.",
    )
