"""Random numbers of training texts that depend on seed, step and text alone, so that a killed training goes on alike."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from pellucid.core.foundation.checks import between
from pellucid.core.passes.batch import Row
from pellucid.core.passes.seeds import derived_seed

LOWEST_SHARE = 0.01


@dataclass(frozen=True)
class TextDraws:
    """The draws of one objective in one training.

    name: the objective's; two objectives draw differently. seed: the recipe's. share: of the texts that the objective acts on
    in a step, 0.01 to 1; its losses are divided by it, so that their mean stays the same.
    """

    name: str
    seed: int
    share: float = 1.0

    def __post_init__(self) -> None:
        between("share", self.share, LOWEST_SHARE, 1)

    def points(self, rows: Sequence[Row], done: int, count: int) -> Tensor:
        """[row point] numbers from 0 to below 1, on the processor; done: steps before this one."""
        return torch.stack([self._points(row, done, count) for row in rows])

    def sampled(self, rows: Sequence[Row], done: int) -> list[int]:
        """The numbers of those rows that the objective acts on in this step."""
        if self.share == 1:
            return list(range(len(rows)))
        chances = self.points(rows, done, 1)[:, 0].tolist()
        return [number for number, chance in enumerate(chances) if chance < self.share]

    def for_examples(self, losses: Tensor, numbers: Sequence[int], count: int) -> Tensor:
        """[sampled] losses -> [example]: each divided by the share, and 0 of the texts that were left out."""
        places = torch.tensor(numbers, dtype=torch.long, device=losses.device)
        return losses.new_zeros(count).index_add(0, places, losses / self.share)

    def _points(self, row: Row, done: int, count: int) -> Tensor:
        generator = torch.Generator().manual_seed(
            derived_seed(self.seed, self.name, count, done, row.ids, row.types)
        )
        return torch.rand(count, generator=generator, dtype=torch.float64)
