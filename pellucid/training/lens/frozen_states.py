"""The hidden states of a frozen model: of chosen pieces of some rows, from chosen layers."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from pellucid.core.foundation.lazy_attributes import cached_property
from pellucid.core.passes.batch import Row
from pellucid.core.passes.model import Model
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.passes.scheduler import Scheduler
from pellucid.core.passes.trace import Want


@dataclass(frozen=True, eq=False)
class FrozenStates:
    """Runs a model without gradients; rows share passes as the model allows."""

    model: Model

    @cached_property
    def _scheduler(self) -> Scheduler:
        return scheduler_for(self.model)

    def of(self, rows: Sequence[Row], pieces: Sequence[Sequence[int]], layers: Sequence[int]) -> list[Tensor]:
        """For each layer [place width] in float32: the states of each row's pieces, row after row."""
        by_row: dict[int, list[Tensor]] = {}

        def run(numbers: list[int]) -> None:
            with torch.inference_mode(False), torch.no_grad():
                want = Want(hidden=True, deepest=max(layers))
                hidden = self.model.trace([rows[number] for number in numbers], want).hidden
            for line, number in enumerate(numbers):
                by_row[number] = [hidden[layer][line, list(pieces[number])].float() for layer in layers]

        for pack in self._scheduler.packs_of(rows):
            self._scheduler.halving(pack, run)
        ordered = [by_row[number] for number in range(len(rows))]
        return [torch.cat([states[index] for states in ordered]) for index in range(len(layers))]
