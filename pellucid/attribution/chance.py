"""Chance: random scores, the level that every method has to beat.

Twenty random rankings as in Hou and Castañón (2023), "Decoding Layer Saliency in Language Transformers". Metrics judge
each ranking by itself; tables show their mean and spread.
"""

import torch
from torch import Tensor

from pellucid.base.checks import at_least
from pellucid.base.kinds import attributions
from pellucid.run.batch import Batch
from pellucid.run.blank import generator_for
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.target import ResolvedTarget
from pellucid.text.units import Kind, Units, coarsen


@attributions.add(
    needs=frozenset(),
    cost="nothing",
    signed=False,
    of_class=False,
    random=True,
    units="word",
    floor=True,
    shares=False,
)
def chance(run: ForwardPass, target: ResolvedTarget, *, n_draws: int = 20, unit: Kind = "word") -> Scores:
    """Uniform random scores between 0 and 1, n_draws rankings of every text: rows of kind "draw".

    n_draws: rankings of each text, at least 1. unit: what gets a score. One score a word, since scores of pieces would
    add up and favour words of many pieces. A text in windows is ranked as a whole: a word that stands in two windows
    has one score.
    """
    at_least("n_draws", n_draws, 1)
    scores, units = zip(*(_drawn(run.batch, n, run.seed, n_draws, unit) for n in range(len(run.batch))), strict=True)
    return Scores(scores, rows=(("draw", tuple(map(str, range(n_draws)))),), units=units)


def _drawn(batch: Batch, index: int, seed: int, n_draws: int, unit: Kind) -> tuple[Tensor, Units]:
    """[draw unit]: scores of one row's units, which are drawn for its whole text."""
    segments = batch.examples[index].segments
    whole, numbers = coarsen(batch.whole_units[index], unit, segments)
    generator = generator_for(batch.whole_rows[index], "chance", seed)
    draws = torch.stack([torch.rand(len(whole), generator=generator, dtype=torch.float32) for _ in range(n_draws)])
    units, owners = coarsen(batch.units[index], unit, segments)
    pieces = batch.parts[index] or range(len(owners))
    number_of = {owner: numbers[piece] for owner, piece in zip(owners, pieces, strict=True)}
    return draws[:, [number_of[n] for n in range(len(units))]] * torch.from_numpy(~units.special), units
