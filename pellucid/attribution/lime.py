"""LIME: a linear model fitted to the target's values of the text with units taken away at random.

Ribeiro, Singh & Guestrin (2016), "Why Should I Trust You?", equation 2, with the settings for text of their `lime`
package: ridge regression, a cosine kernel of width 25, and a number of absent units that is drawn from 1 to all.
"""

from itertools import islice
from math import comb

import numpy as np
import torch

from pellucid.attribution.shared.coalition_game import all_coalitions, coalitions, games
from pellucid.attribution.shared.surrogate import Sample, fitted
from pellucid.base.checks import at_least
from pellucid.base.kinds import attributions
from pellucid.run.batch import Operator
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.target import Explainable
from pellucid.text.units import Kind


@attributions.add(needs=frozenset(), cost="n_samples runs of the model", random=True, units="word")
def lime(
    run: ForwardPass,
    target: Explainable,
    *,
    unit: Kind = "word",
    n_samples: int = 512,
    operator: Operator = "absent",
    kernel_width: float = 25.0,
    alpha: float = 1.0,
) -> Scores:
    """The coefficients of a ridge regression that predicts the target from which units are present, near the text.

    unit: what is taken out and scored; a word that stands twice has two scores. n_samples: texts that the model is
    evaluated on, the whole one among them; where all coalitions are fewer, each is evaluated once and counts as often as it
    would be drawn. operator: how units are taken out; see `pellucid.run.batch.edit`. kernel_width: how fast a
    sample's weight falls with its distance, 100 x (1 - cosine with the whole text). alpha: the ridge penalty. For the
    diagnostics see `pellucid.attribution.shared.surrogate`.
    """
    at_least("n_samples", n_samples, 8)
    at_least("kernel_width", kernel_width, 1e-3)
    at_least("alpha", alpha, 0.0)
    game = games(run, target, unit, operator)
    samples = [
        _sample(size, n_samples, kernel_width, generator)
        for size, generator in zip(game.sizes, run.generators("lime"), strict=True)
    ]
    return fitted(game, samples, alpha)


def _sample(players: int, n_samples: int, kernel_width: float, generator: torch.Generator) -> Sample:
    """The whole text, and texts without some units: all of them, or draws whose number of absent units is uniform."""
    if 1 << min(players, 60) <= n_samples:
        present = all_coalitions(players)[::-1]
        sizes = present.sum(1)
        expected = [(n_samples - 1) / players / comb(players, size) for size in sizes[1:].tolist()]
        return Sample(
            present, cosine_kernel(present, kernel_width) * np.array([1.0, *expected]), len(present)
        )
    stream = coalitions(players, generator, lambda numbers: players - 1 - (numbers * players).astype(int))
    present = np.array([np.ones(players, dtype=bool), *islice(stream, n_samples - 1)])
    return Sample(present, cosine_kernel(present, kernel_width), 1)


def cosine_kernel(present: np.ndarray, width: float) -> np.ndarray:
    """[sample]: sqrt(exp(-distance² / width²)), with the distance 100 x (1 - cosine with all units present)."""
    distance = 100 * (1 - np.sqrt(present.mean(1)))
    return np.sqrt(np.exp(-((distance / width) ** 2)))
