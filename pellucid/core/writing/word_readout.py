"""The readout of words that a model writes: the log-probability of each piece, or its lead over another one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from pellucid.core.passes.batch import Row
from pellucid.core.passes.trace import NOTHING, Trace, Want, WrittenTrace

Rival = tuple[
    tuple[int, ...], int, int
]  # what a row is to write, the number of a piece of it, another id in its place


@dataclass(frozen=True)
class WordReadout:
    """[row piece]: log-probabilities of the pieces that are written, in nats, padded with 0 to `width` pieces.

    rivals: where a row has one, that piece's number is its lead over the rival, log p(piece) - log p(rival), and all other
    numbers are 0.
    """

    width: int
    rivals: tuple[Rival, ...] = ()
    want: Want = NOTHING

    @property
    def key(self) -> bytes:
        """The width and the rivals."""
        return repr(("words", self.width, self.rivals)).encode()

    def answers(self, trace: Trace, rows: Sequence[Row]) -> Tensor:
        """[row piece]"""
        assert trace.written is not None  # only a model that writes is asked
        ids = trace.written.ids
        values = trace.written.log_probabilities(ids)
        if self.rivals:
            others, compared = self._others(rows, ids)
            values = (values - trace.written.log_probabilities(others)) * compared
        return torch.nn.functional.pad(values, (0, self.width - values.shape[1]))

    def origin(self, trace: Trace, rows: Sequence[Row]) -> Tensor:
        """[row piece id]: logits over the vocabulary."""
        assert trace.written is not None
        return trace.written.logits

    def answers_from(self, origin: Tensor, trace: Trace, rows: Sequence[Row]) -> Tensor:
        """[row piece]: the answers of other logits; rows: the first of the trace's."""
        assert trace.written is not None
        written = WrittenTrace(origin, trace.written.ids[: len(rows)])
        return self.answers(replace(trace, written=written), rows)

    def _others(self, rows: Sequence[Row], ids: Tensor) -> tuple[Tensor, Tensor]:
        """[row piece]: the rivals' ids, and 1 where there is one."""
        rival_of = {written: (piece, other) for written, piece, other in self.rivals}
        others, compared = ids.clone(), torch.zeros(ids.shape, device=ids.device)
        for number, row in enumerate(rows):
            piece, other = rival_of[row.written]
            others[number, piece], compared[number, piece] = other, 1.0
        return others, compared
