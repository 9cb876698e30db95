"""What teaches the head: the cross-entropy of hidden pieces, from the last layer's states."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from pellucid.base.errors import BadInput
from pellucid.models.language_heads.masked_head import MaskedHead
from pellucid.run.batch import Row
from pellucid.run.blank import generator_for
from pellucid.run.model import Model
from pellucid.run.windows import pieces_in, window_row, windows_of
from pellucid.text.example import Example
from pellucid.text.units import SPECIAL
from pellucid.training.lens.translator_loss import FrozenStates

# Hiding pieces of a row for a masked-language-model head to guess.
#
# Devlin et al. (2019), "BERT", section 3.1, where of the hidden pieces 80 % become the mask token, 10 %
# another piece, and 10 % stay. Here 60 % stay. A lens learns for minutes and reads texts without masks;
# with 80 % masks too few pieces teach it to name what stands there: after 400 steps it named 45 % of
# MiniLM's own pieces first, and with 30 % masks 91 %.


AS_MASK, AS_OTHER = 0.3, 0.1  # of the hidden pieces; the others stay


@dataclass(frozen=True)
class Masking:
    """How rows are masked.

    share: of a row's pieces of text, at least one. mask: the id of the mask token; None where the tokenizer has none: then
    another piece stands in its place. vocabulary: [piece], the ids that another piece is drawn from. seed: a whole number.
    as_mask, as_other: the shares of the hidden pieces that become the mask and another piece.
    """

    share: float
    mask: int | None
    vocabulary: Tensor
    seed: int
    as_mask: float = AS_MASK
    as_other: float = AS_OTHER

    def masked(self, row: Row, reading: int) -> tuple[Row, list[int]]:
        """The masked row, and the numbers of its hidden pieces, in order.

        reading: how often the row was read before. The draws depend on the seed, on this number and on the row's own ids.
        """
        generator = generator_for(row, f"masks of reading {reading}", self.seed)
        content = content_of(row)
        count = max(1, round(self.share * len(content)))
        hidden = sorted(
            content[number] for number in torch.randperm(len(content), generator=generator)[:count].tolist()
        )
        draws = torch.rand(count, generator=generator).tolist()
        others = self.vocabulary[torch.randint(len(self.vocabulary), (count,), generator=generator)].tolist()
        ids = list(row.ids)
        for piece, draw, other in zip(hidden, draws, others, strict=True):
            if draw < self.as_mask + self.as_other:
                ids[piece] = other if draw >= self.as_mask or self.mask is None else self.mask
        return replace(row, ids=tuple(ids)), hidden


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


# The rows that a lens is trained on: texts encoded and, where they are long, cut between words.


AT_ONCE = 256  # texts that are encoded at once: their units take more memory than their rows
FEWEST = 2  # pieces of text in a row: one is hidden, another says what it may be


def lens_rows(model: Model, examples: Sequence[Example], sequence_length: int, part: str) -> list[Row]:
    """Rows of at most so many pieces, in the order of the texts; those with fewer than two pieces of text are left out.

    part: what a message calls the texts. Raises `BadInput` where no row is left.
    """
    rows = [
        short
        for first in range(0, len(examples), AT_ONCE)
        for row in model.encode(examples[first : first + AT_ONCE]).rows
        for short in _cut(row, sequence_length)
        if len(content_of(short)) >= FEWEST
    ]
    if not rows:
        raise BadInput(
            f"The {part} part has no text of {FEWEST} pieces or more, of which one could be hidden; give "
            f"{'longer texts' if examples else 'more texts'}."
        )
    return rows


def content_of(row: Row) -> list[int]:
    """The numbers of a row's pieces of text; special tokens are none."""
    return [number for number, segment in enumerate(row.segments) if segment != SPECIAL]


def evenly(rows: Sequence[Row], most: int) -> list[Row]:
    """At most so many rows, taken evenly from all of them."""
    if len(rows) <= most:
        return list(rows)
    return [rows[number * len(rows) // most] for number in range(most)]


def _cut(row: Row, sequence_length: int) -> list[Row]:
    """A row in parts of at most so many pieces, or of as many as the model reads at once if that is fewer."""
    at_once = max((len(pieces_in(row, window)) for window in row.windows), default=sequence_length)
    windows = windows_of(row, min(sequence_length, at_once))
    return [window_row(row, window) for window in windows] or [row]
