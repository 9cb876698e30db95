"""What teaches the head: the cross-entropy of hidden pieces, from the last layer's states."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from pellucid.core.passes.batch import Row
from pellucid.models.language_heads.masked_head import MaskedHead
from pellucid.training.lens.frozen_states import FrozenStates
from pellucid.training.lens.masking import Masking


@dataclass(frozen=True, eq=False)
class HeadLoss:
    """The loss of a head on masked rows; the softmax is over the whole vocabulary, some pieces at a time."""

    head: MaskedHead
    states: FrozenStates
    masking: Masking

    def backward(self, rows: list[Row], reading: int) -> float:
        """Add the gradients of the mean loss of the rows' hidden pieces, in nats; returns that mean."""
        states, ids = self._hidden(rows, reading)
        total = 0.0
        for part in self.head.slices_of_places(len(ids)):
            loss = cross_entropy(self.head(states[part]), ids[part], reduction="sum") / len(ids)
            loss.backward()
            total += float(loss.detach())
        return total

    @torch.no_grad()
    def judge(self, rows: Sequence[Row], at_once: int) -> tuple[float, float]:
        """The share of hidden pieces that the head names first, and the mean loss in nats; so many rows at a time."""
        right = loss = 0.0
        count = 0
        for first in range(0, len(rows), at_once):
            states, ids = self._hidden(rows[first : first + at_once], 0)
            right += float((self.head.most_likely(states) == ids).sum())
            for part in self.head.slices_of_places(len(ids)):
                loss += float(cross_entropy(self.head(states[part]), ids[part], reduction="sum"))
            count += len(ids)
        return right / count, loss / count

    def _hidden(self, rows: Sequence[Row], reading: int) -> tuple[Tensor, Tensor]:
        """States [place width] of the hidden pieces, and their ids [place]."""
        pairs = [self.masking.masked(row, reading) for row in rows]
        pieces = [numbers for _, numbers in pairs]
        states = self.states.of([row for row, _ in pairs], pieces, [self.states.model.n_layers])[0]
        ids = [row.ids[number] for row, numbers in zip(rows, pieces, strict=True) for number in numbers]
        return states, torch.tensor(ids, device=states.device)
