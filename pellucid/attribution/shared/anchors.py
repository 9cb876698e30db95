"""Ways through the vocabulary: from a piece's embedding to the blank's, by way of other pieces' embeddings.

Sanyal & Ren (2021), "Discretized Integrated Gradients for Explaining Language Models", section 3.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import torch
from torch import Tensor

Strategy = Literal["greedy", "max_count"]


@dataclass(frozen=True)
class Anchors:
    """Finds monotone ways of n_steps anchors to a blank; every entry moves one way only.

    table: [piece width], embeddings of the vocabulary; blank: [width].
    """

    table: Tensor
    blank: Tensor
    n_steps: int
    n_neighbours: int
    strategy: Strategy
    _near: dict[int, Tensor] = field(default_factory=dict, repr=False)

    def way(self, piece: Tensor) -> Tensor:
        """[point width], n_steps + 2 points: the blank first, then anchors, then the piece itself."""
        anchor, number, points = piece, -1, [piece]
        used: list[int] = []
        for _ in range(self.n_steps):
            number = self._next(anchor, number, used)
            anchor = self.blank if number < 0 else self.table[number]
            used.append(number)
            points.append(self._monotone(points[-1], anchor))
        return torch.stack([self.blank, *reversed(points)])

    def _next(self, anchor: Tensor, number: int, used: list[int]) -> int:
        """The neighbour that needs least change to lie between the anchor and the blank; -1 where none is left."""
        near = self._neighbours(anchor, number)
        found = self.table[near]
        if self.strategy == "greedy":
            cost = (self._monotone(anchor, found) - found).norm(dim=-1)
        else:
            cost = -self._between(anchor, found).sum(-1).to(self.table)
        taken = torch.isin(near, torch.tensor([*used, number], device=near.device))
        out = taken | (found == self.blank).all(-1) | (found == anchor).all(-1)
        best = int(cost.masked_fill(out, float("inf")).argmin())
        return -1 if bool(out[best]) else int(near[best])

    def _neighbours(self, anchor: Tensor, number: int) -> Tensor:
        """[neighbour] numbers of the nearest pieces. One anchor at a time, so that no neighbour in a batch matters."""
        if number < 0 or number not in self._near:
            distances = self._sizes - 2 * (self.table @ anchor)
            near = distances.topk(min(self.n_neighbours, len(self.table)), largest=False).indices
            if number < 0:
                return near
            self._near[number] = near
        return self._near[number]

    @cached_property
    def _sizes(self) -> Tensor:
        return self.table.square().sum(-1)

    def _between(self, here: Tensor, found: Tensor) -> Tensor:
        """Whether entries of found [..., width] lie between the blank's and those of here."""
        return (found >= torch.minimum(self.blank, here)) & (found <= torch.maximum(self.blank, here))

    def _monotone(self, here: Tensor, found: Tensor) -> Tensor:
        """found, with 1 / n_steps of the way from here to the blank in each entry that would turn back."""
        step = here - (here - self.blank) / self.n_steps
        return torch.where(self._between(here, found), found, step)
