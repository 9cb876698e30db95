"""Paths through the vocabulary: from a piece's embedding to the blank's, by way of other pieces' embeddings.

Sanyal & Ren (2021), "Discretized Integrated Gradients for Explaining Language Models", section 3.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import torch
from torch import Tensor

Strategy = Literal["greedy", "max_count"]
BLANK = -1  # the number of the anchor that is the blank itself


@dataclass(frozen=True)
class AnchorSearch:
    """How a path is searched: its number of anchors, the neighbours each is chosen from, and how one is chosen."""

    n_steps: int
    n_neighbours: int
    strategy: Strategy


@dataclass
class Anchors:
    """Finds paths to a blank on which every entry of the embedding moves one way only.

    table: [piece width], embeddings of the vocabulary; blank: [width].
    """

    table: Tensor
    blank: Tensor
    search: AnchorSearch
    _neighbours_of: dict[int, Tensor] = field(default_factory=dict, init=False, repr=False)

    def path(self, embedding: Tensor) -> Tensor:
        """[point width], n_steps + 2 points: the blank first, then anchors, then the embedding itself."""
        anchor, number, points = embedding, BLANK, [embedding]
        used: list[int] = []
        for _ in range(self.search.n_steps):
            number = self._next(anchor, number, used)
            anchor = self.blank if number == BLANK else self.table[number]
            used.append(number)
            points.append(self._monotone(points[-1], anchor))
        return torch.stack([self.blank, *reversed(points)])

    def _next(self, anchor: Tensor, number: int, used: list[int]) -> int:
        """The neighbour that needs least change to lie between the anchor and the blank; BLANK where none is left."""
        numbers = self._neighbours(anchor, number)
        neighbours = self.table[numbers]
        if self.search.strategy == "greedy":
            cost = (self._monotone(anchor, neighbours) - neighbours).norm(dim=-1)
        else:
            cost = -self._between(anchor, neighbours).sum(-1).to(self.table)
        is_used = torch.isin(numbers, torch.tensor([*used, number], device=numbers.device))
        out = is_used | (neighbours == self.blank).all(-1) | (neighbours == anchor).all(-1)
        best = int(cost.masked_fill(out, float("inf")).argmin())
        return BLANK if bool(out[best]) else int(numbers[best])

    def _neighbours(self, anchor: Tensor, number: int) -> Tensor:
        """[neighbour] numbers of the nearest pieces. One anchor at a time, so that no neighbour in a batch matters."""
        if number == BLANK:
            return self._nearest(anchor)
        if number not in self._neighbours_of:
            self._neighbours_of[number] = self._nearest(anchor)
        return self._neighbours_of[number]

    def _nearest(self, anchor: Tensor) -> Tensor:
        distances = self._squared_norms - 2 * (self.table @ anchor)
        return distances.topk(min(self.search.n_neighbours, len(self.table)), largest=False).indices

    @cached_property
    def _squared_norms(self) -> Tensor:
        return self.table.square().sum(-1)

    def _between(self, point: Tensor, candidates: Tensor) -> Tensor:
        """Whether entries of the candidates [..., width] lie between the blank's and those of the point."""
        low, high = torch.minimum(self.blank, point), torch.maximum(self.blank, point)
        return (candidates >= low) & (candidates <= high)

    def _monotone(self, point: Tensor, candidates: Tensor) -> Tensor:
        """The candidates; an entry that would turn back becomes 1 / n_steps of the way from the point to the blank."""
        step = point - (point - self.blank) / self.search.n_steps
        return torch.where(self._between(point, candidates), candidates, step)
