"""Chance: random scores, the floor that every method has to beat.

Twenty random rankings as in Hou and Castañón (2023), "Decoding Layer Saliency in Language Transformers"; judged one
by one and shown as their mean with its spread.
"""

import torch

from pellucid.core.checks import at_least
from pellucid.core.forward_pass import ForwardPass
from pellucid.core.kinds import attributions
from pellucid.core.model import Scores
from pellucid.core.target import ResolvedTarget
from pellucid.core.units import Kind, coarsen


@attributions.add(
    needs=frozenset(), cost="nothing", signed=False, of_class=False, random=True, units="word", floor=True
)
def chance(run: ForwardPass, target: ResolvedTarget, *, n_draws: int = 20, unit: Kind = "word") -> Scores:
    """Uniform random scores between 0 and 1, n_draws rankings of every text: rows of kind "draw".

    unit: what is ranked; drawn a word, since draws a piece would add up and favour words of many pieces.
    """
    at_least("n_draws", n_draws, 1)
    batch = run.batch
    units = tuple(coarsen(batch.units[n], unit, batch.examples[n].segments)[0] for n in range(len(batch)))
    draws = []
    for generator, found in zip(run.generators("chance"), units, strict=True):
        values = torch.stack([torch.rand(len(found), generator=generator) for _ in range(n_draws)])
        draws.append(values * torch.from_numpy(~found.special))
    return Scores(tuple(draws), rows=(("draw", tuple(map(str, range(n_draws)))),), units=units)
