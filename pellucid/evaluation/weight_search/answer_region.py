"""The weights that keep a text's answer, and how far they lie from the model's own."""

import math
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from pellucid.evaluation.shared.weighed_texts import WeighedText
from pellucid.run.readout import total_variation

MARGIN = 1e-9  # answers stay so far inside the limit that rounding does not lead out of it
HALVINGS = 20


@dataclass(frozen=True, eq=False)
class AnswerRegion:
    """One text, and how far its answer may move: a total variation distance of `limit`."""

    text: WeighedText
    limit: float

    @cached_property
    def answer(self) -> Tensor:
        """[class]: the probabilities with the model's own weights."""
        return self.text.logits(self.text.weights[None])[0].softmax(-1)

    def distances(self, logits: Tensor) -> Tensor:
        """[... class] -> [...]: how far these answers lie from the model's own, 0 to 1."""
        return total_variation(logits.softmax(-1), self.answer)

    def admits(self, logits: Tensor) -> Tensor:
        """[... class] -> [...] bool: whether answers lie within the limit."""
        return self.distances(logits) <= self.limit - MARGIN

    def divergences(self, weights: Tensor, units: Tensor) -> Tensor:
        """Jensen-Shannon divergence from the model's own weights, in nats; weights: [... part] of units [... part], else 0.

        It is a sum over units, and a unit of weight 0 adds its own weight x log(2) / 2.
        """
        own = self.text.weights[units]
        return math.log(2) / 2 * (1 - own.sum(-1)) + _share(weights, own).sum(-1)

    def longest_steps(self, points: Tensor, directions: Tensor, units: Tensor) -> Tensor:
        """[... part], [... part], [... part] -> [...]: how far one can go from admitted weights, 0 or more.

        It ends where a weight is 0 or where the answer leaves the region, which bisection finds.
        """
        falls = -directions
        ends = torch.where(falls > 0, points / falls.clamp_min(1e-300), torch.inf).amin(-1)
        logits = self.text.unit_logits[units]
        start, move = (torch.einsum("...p,...pc->...c", values, logits) for values in (points, directions))
        low, high = torch.zeros_like(ends), ends
        step = ends
        for _ in range(HALVINGS):
            inside = self.admits(start + step[..., None] * move)
            low, high = torch.where(inside, step, low), torch.where(inside, high, step)
            step = (low + high) / 2
        return torch.where(self.admits(start + ends[..., None] * move), ends, low)


def _share(weights: Tensor, own: Tensor) -> Tensor:
    """What a unit adds to the divergence."""
    sums = (weights + own).clamp_min(torch.finfo(weights.dtype).tiny)
    return (torch.xlogy(weights, 2 * weights / sums) + torch.xlogy(own, 2 * own / sums)) / 2


# Of two classes the farthest weights are known exactly: they lie on one unit, or on two.
#
# The answer depends on one number, the weighted sum of the units' log odds, and stays within the limit
# while that lies between two bounds. So the weights that keep it are a polytope. The divergence is convex
# and largest at one of its corners, and these are the units whose log odds lie between the bounds, and
# the pairs of units whose mean can be put on a bound.


def farthest_of_two_classes(region: AnswerRegion) -> Tensor:
    """[unit]: of all weights that keep the answer, those with the largest divergence from the model's own."""
    text = region.text
    odds = text.unit_logits[:, 1] - text.unit_logits[:, 0]
    probability = region.answer[1]
    bounds = [
        (probability + move).clamp(0, 1).logit() for move in (MARGIN - region.limit, region.limit - MARGIN)
    ]
    single = (bounds[0] <= odds) & (odds <= bounds[1])
    shares = torch.stack([torch.diag(single.to(odds)), *(_pairs_on(odds, bound) for bound in bounds)])
    units = torch.arange(len(odds))
    pairs = torch.stack(torch.broadcast_tensors(units[:, None], units), -1)
    divergences = region.divergences(torch.stack([shares, 1 - shares], -1), pairs)
    alone = region.divergences(torch.ones(len(odds), 1, dtype=odds.dtype), units[:, None])
    divergences[0] = torch.diag(alone)
    corner, one, other = torch.unravel_index(divergences.where(shares > 0, -1.0).argmax(), shares.shape)
    weights = torch.zeros_like(odds)
    weights[other] = 1 - shares[corner, one, other]
    weights[one] = shares[corner, one, other]  # last: of a single unit both are the same
    return weights


def _pairs_on(odds: Tensor, bound: Tensor) -> Tensor:
    """[unit] -> [unit unit]: the share of the first of two units that puts their mean on the bound; 0 where none does."""
    above, below = odds[:, None], odds[None]
    possible = (above > bound) & (below < bound) & bound.isfinite()
    return ((bound - below) / (above - below)).where(possible, 0.0)
