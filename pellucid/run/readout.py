"""Readouts: what is read off a forward pass, its logits or a hidden state."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from pellucid.run.batch import Row
from pellucid.run.trace import NOTHING, Trace, Want
from pellucid.text.units import SPECIAL

Positions = str | tuple[int, ...]


class Readout(Protocol):
    """What is read off a trace: one answer a row. want: what the trace must contain. key: distinguishes its answers
    from those of other readouts.
    """

    @property
    def want(self) -> Want: ...

    @property
    def key(self) -> bytes: ...

    def answers(self, trace: Trace, rows: Sequence[Row]) -> Tensor:
        """[row answer]: the model's answer to each row."""
        ...

    def origin(self, trace: Trace, rows: Sequence[Row]) -> Tensor:
        """[row ...]: the network's own numbers, from which the answers follow."""
        ...

    def answers_from(self, origin: Tensor, trace: Trace, rows: Sequence[Row]) -> Tensor:
        """[row answer]: the answers that other numbers in place of the trace's own would give."""
        ...


@dataclass(frozen=True)
class Logits:
    """The model's logits."""

    want: Want = NOTHING
    key: bytes = b""

    def answers(self, trace: Trace, rows: Sequence[Row]) -> Tensor:
        """[row logit]"""
        return trace.logits

    def origin(self, trace: Trace, rows: Sequence[Row]) -> Tensor:
        """[row logit]"""
        return trace.logits

    def answers_from(self, origin: Tensor, trace: Trace, rows: Sequence[Row]) -> Tensor:
        """The same."""
        return origin


LOGITS = Logits()


@dataclass(frozen=True)
class StateReadout:
    """The mean of one layer's hidden states over some pieces of a row; 0 where all of them were removed.

    positions: "pooled" (the text's pieces, without special tokens), "first" or "last" (of the row's pieces), or the
    numbers of pieces in the text as it was encoded. columns: the part of the state that is read; None: all.
    """

    layer: int
    positions: Positions
    columns: slice | None = None

    @property
    def want(self) -> Want:
        """Hidden states up to the layer; blocks above it do not run."""
        return Want(hidden=True, deepest=self.layer)

    @property
    def key(self) -> bytes:
        """The layer, the positions and the part."""
        return repr((self.layer, self.positions, self.columns)).encode()

    def answers(self, trace: Trace, rows: Sequence[Row]) -> Tensor:
        """[row width]"""
        states = self.part_of(trace.hidden[self.layer])
        read = states.new_zeros(states.shape[:2])
        for line, row in zip(read, rows, strict=True):
            line[torch.tensor(self.pieces(row), dtype=torch.long, device=line.device)] = 1.0
        return (read[..., None] * states).sum(1) / read.sum(1, keepdim=True).clamp_min(1.0)

    def origin(self, trace: Trace, rows: Sequence[Row]) -> Tensor:
        """[row width]"""
        return self.answers(trace, rows)

    def answers_from(self, origin: Tensor, trace: Trace, rows: Sequence[Row]) -> Tensor:
        """The same."""
        return origin

    def part_of(self, states: Tensor) -> Tensor:
        """[... width] -> [... part]: the columns that are read."""
        return states if self.columns is None else states[..., self.columns]

    def pieces(self, row: Row) -> list[int]:
        """The numbers, in the row, of the pieces whose states are read."""
        if isinstance(self.positions, tuple):
            return [piece for piece, own_number in enumerate(row.own_numbers) if own_number in self.positions]
        if self.positions == "pooled":
            return [piece for piece, segment in enumerate(row.segments) if segment != SPECIAL]
        return [0 if self.positions == "first" else len(row) - 1] if len(row) else []


# What one window contributes to the answer for its text. The text's logits are the mean of its windows' logits.
#
# Where a logit is explained, the window's own logit can be explained: the text's logit is the mean of the windows'
# logits. The text's probability is not the mean of the windows' probabilities. There, a window's contribution is how
# the text's probability changes with this window, while the text's other windows stay as they are.


@dataclass(frozen=True, eq=False)
class WindowAnswers:
    """The model's own logits for windows and for their texts; an example is a window.

    windows: [example logit]. texts: [example logit], logits of the whole text; equal to `windows` where a text fits one
    window. counts: [example], how many windows the text has.
    """

    texts: Tensor
    windows: Tensor
    counts: Tensor

    def select(self, indices: Sequence[int]) -> "WindowAnswers":
        """The answers of these windows."""
        picked = list(indices)
        return WindowAnswers(self.texts[picked], self.windows[picked], self.counts[picked])

    def numbers(self, number_of: Callable[[Tensor], Tensor], logits: Tensor) -> Tensor:
        """[example logit] -> [example]: the text's explained value when one of its windows gives these logits.

        number_of: [example logit] -> [example], the explained value. A change is multiplied by the number of windows,
        so that the mean over the windows is the change of the text.
        """
        texts, windows, counts = (part.to(logits) for part in (self.texts, self.windows, self.counts))
        several = counts > 1
        moved = torch.where(several[:, None], texts + (logits - windows) / counts[:, None], logits)
        numbers, start = number_of(moved), number_of(texts)
        return torch.where(several, start + counts * (numbers - start), numbers)


# How far two distributions lie apart: total variation distance, Jensen-Shannon and Kullback-Leibler divergence.


def total_variation(first: Tensor, second: Tensor) -> Tensor:
    """[... class], each summing to 1 -> [...]: half the sum of |p - q|, 0 to 1; of two classes |p_1 - q_1|.

    Wiegreffe & Pinter (2019), "Attention is not not Explanation", equation 1 (corrections.md A4.2).
    """
    return (first - second).abs().sum(-1) / 2


def kullback_leibler(first: Tensor, second: Tensor) -> Tensor:
    """[... outcome] -> [...]: the sum of p log(p / q) in nats, 0 or more; finite also where q is 0."""
    return (first * (_log(first) - _log(second))).sum(-1)


def jensen_shannon(first: Tensor, second: Tensor) -> Tensor:
    """[... outcome] -> [...]: the mean divergence of both from their mean, in nats, 0 to log 2."""
    mean = (first + second) / 2
    return (kullback_leibler(first, mean) + kullback_leibler(second, mean)) / 2


def _log(values: Tensor) -> Tensor:
    """The logarithm, of 0 that of the smallest number: 0 log 0 is 0 then, with a finite gradient."""
    return values.clamp_min(torch.finfo(values.dtype).tiny).log()
