"""LIME as Thermostat ran it: 25 texts in which each piece is [PAD] with probability 0.3, and a ridge regression.

Feldhus, Schwarzenberg & Möller (2021), "Thermostat: A Large Collection of NLP Model Explanations and Analysis Tools";
the sample weight is the share of unchanged pieces (corrections.md A1.14).
"""

import torch

from pellucid.attribution.shared.coalition_game import games
from pellucid.attribution.shared.surrogate import Sample, fitted
from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.kinds import attributions
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.model import Scores
from pellucid.core.passes.target import Explainable

MASK_PROBABILITY = 0.3
ALPHA = 1.0


@attributions.add(needs=frozenset(), cost="n_samples runs of the model", random=True, usual=False)
def thermostat_lime(run: ForwardPass, target: Explainable, *, n_samples: int = 25) -> Scores:
    """Ridge coefficients that predict the target from which pieces are present, by n_samples random texts; see `lime`.

    Unlike theirs, special tokens are never replaced. For the diagnostics see `pellucid.attribution.shared.surrogate`.
    """
    at_least("n_samples", n_samples, 8)
    game = games(run, target, "piece", "pad")
    samples = [
        _sample(size, n_samples, generator)
        for size, generator in zip(game.sizes, run.generators("thermostat_lime"), strict=True)
    ]
    return fitted(game, samples, ALPHA)


def _sample(players: int, n_samples: int, generator: torch.Generator) -> Sample:
    drawn = torch.rand(n_samples, players, generator=generator, dtype=torch.float64)
    present = (drawn >= MASK_PROBABILITY).numpy()
    return Sample(present, present.mean(1), 0)
