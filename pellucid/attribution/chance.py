"""Chance: random scores, the floor that every method has to beat.

Twenty seeded rankings as in "Decoding Layer Saliency" (corrections.md S1-9); judged as their mean, with spread.
"""

import torch

from pellucid.core.checks import at_least
from pellucid.core.forward_pass import ForwardPass
from pellucid.core.kinds import attributions
from pellucid.core.model import Scores
from pellucid.core.target import ResolvedTarget


@attributions.add(needs=frozenset(), cost="nothing", signed=False, random=True)
def chance(run: ForwardPass, target: ResolvedTarget, *, n_draws: int = 20) -> Scores:
    """Uniform random scores between 0 and 1, n_draws rankings of every text: rows of kind "draw"."""
    at_least("n_draws", n_draws, 1)
    draws = []
    for generator, row, content in zip(run.generators("chance"), run.batch.rows, run.content.cpu(), strict=True):
        values = torch.stack([torch.rand(len(row), generator=generator) for _ in range(n_draws)])
        draws.append(values * content[: len(row)])
    return Scores(tuple(draws), rows=(("draw", tuple(map(str, range(n_draws)))),))
