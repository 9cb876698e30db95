"""The weights that keep a text's answer, and how far they lie from the model's own."""

import math
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from pellucid.core.passes.divergences import total_variation
from pellucid.evaluation.shared.weighed_texts import WeighedText

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
