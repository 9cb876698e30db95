"""What teaches a lens: the head, then its translators; what it names from each layer, and which translators are
better.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, kl_div, log_softmax

from pellucid.base.errors import BadInput
from pellucid.base.packages import cached_property
from pellucid.base.processes import Progress
from pellucid.models.language_heads.lens import Translators
from pellucid.models.language_heads.lens_table import LayerRecovery, LensTable
from pellucid.models.language_heads.masked_head import MaskedHead
from pellucid.results.table import Interval
from pellucid.run.batch import Row
from pellucid.run.blank import generator_for
from pellucid.run.model import Model
from pellucid.run.packing import scheduler_for
from pellucid.run.scheduler import Scheduler
from pellucid.run.trace import Want
from pellucid.run.windows import pieces_in, window_row, windows_of
from pellucid.text.example import Example
from pellucid.training.objectives.masked_words import FEWEST, Masking, content_of

# The hidden states of a frozen model: of chosen pieces of some rows, from chosen layers.


@dataclass(frozen=True, eq=False)
class FrozenStates:
    """Runs a model without gradients; rows share passes as the model allows."""

    model: Model

    @cached_property
    def _scheduler(self) -> Scheduler:
        return scheduler_for(self.model)

    def of_pieces(self, rows: Sequence[Row], pieces: Sequence[Sequence[int]], layers: Sequence[int]) -> list[Tensor]:
        """For each layer [place width] in float32: the states of each row's pieces, row after row."""
        by_row: dict[int, list[Tensor]] = {}

        def run(numbers: list[int]) -> None:
            with torch.inference_mode(False), torch.no_grad():
                want = Want(hidden=True, deepest=max(layers))
                hidden = self.model.trace([rows[row_index] for row_index in numbers], want).hidden
            for line, row_index in enumerate(numbers):
                by_row[row_index] = [hidden[layer][line, list(pieces[row_index])].float() for layer in layers]

        for pack in self._scheduler.packs_of(rows):
            self._scheduler.halving(pack, run)
        ordered = [by_row[row_index] for row_index in range(len(rows))]
        return [torch.cat([states[index] for states in ordered]) for index in range(len(layers))]


@dataclass(frozen=True, eq=False)
class TranslatorLoss:
    """The loss of translators under a head that is trained already.

    pieces_a_step: at most so many pieces of the rows of a step are read, drawn by the rows' own ids and the seed.
    """

    head: MaskedHead
    translators: Translators
    states: FrozenStates
    pieces_a_step: int
    seed: int

    def backward(self, rows: list[Row], reading: int) -> float:
        """Add the gradients of the divergence, summed over layers; returns its mean over pieces and layers, in nats."""
        n_layers = self.states.model.n_layers
        most = max(1, self.pieces_a_step // len(rows))
        pieces = [self._drawn(row, reading, most) for row in rows]
        states = self.states.of_pieces(rows, pieces, range(n_layers + 1))
        count, total = len(states[-1]), 0.0
        for part in self.head.slices_of_places(count):
            with torch.no_grad():
                teacher = log_softmax(self.head(states[-1][part]), -1)
            for layer in range(n_layers):
                loss = divergence(teacher, self.head(self.translators(states[layer][part], layer))).sum() / count
                loss.backward()
                total += float(loss.detach()) / n_layers
        return total

    def _drawn(self, row: Row, reading: int, most: int) -> list[int]:
        """At most so many numbers of a row's pieces, in order."""
        generator = generator_for(row, f"pieces of reading {reading}", self.seed)
        return sorted(torch.randperm(len(row), generator=generator)[:most].tolist())


def divergence(teacher: Tensor, logits: Tensor) -> Tensor:
    """[place]: KL(teacher || softmax(logits)) in nats; teacher: log probabilities [place token]."""
    return kl_div(log_softmax(logits, -1), teacher, reduction="none", log_target=True).sum(-1)


# What teaches the head: the cross-entropy of hidden pieces, from the last layer's states.


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
        states = self.states.of_pieces([row for row, _ in pairs], pieces, [self.states.model.n_layers])[0]
        ids = [row.ids[piece] for row, numbers in zip(rows, pieces, strict=True) for piece in numbers]
        return states, torch.tensor(ids, device=states.device)


# The rows that a lens is trained on: texts encoded and, where they are long, cut between words.

AT_ONCE = 256  # texts that are encoded at once: their units take more memory than their rows


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


def evenly(rows: Sequence[Row], most: int) -> list[Row]:
    """At most so many rows, taken evenly from all of them."""
    if len(rows) <= most:
        return list(rows)
    return [rows[index * len(rows) // most] for index in range(most)]


def _cut(row: Row, sequence_length: int) -> list[Row]:
    """A row in parts of at most so many pieces, or of as many as the model reads at once if that is fewer."""
    at_once = max((len(pieces_in(row, window)) for window in row.windows), default=sequence_length)
    windows = windows_of(row, min(sequence_length, at_once))
    return [window_row(row, window) for window in windows] or [row]


# What a lens names from each layer of dev texts, with translators and without; and which translators are better than
# none.

RESAMPLES = 1000
Reading = Callable[[Tensor], Tensor]  # states of a layer as the head reads them


@dataclass(frozen=True)
class LayerCounts:
    """One way to read one layer.

    right: [row], how many pieces are named first. kl: [row], the sum of their divergences in nats.
    """

    right: np.ndarray
    kl: np.ndarray

    def is_better_than(self, counts: "LayerCounts") -> bool:
        """Whether it diverges less and names no fewer pieces."""
        return bool(self.kl.sum() < counts.kl.sum() and self.right.sum() >= counts.right.sum())


def lens_table(
    head: MaskedHead, translators: Translators, states: FrozenStates, rows: Sequence[Row], progress: Progress
) -> LensTable:
    """Each layer as the head alone and as the translated head reads it, on the pieces of text of dev rows.

    A translator is better than none where its divergence is lower and it names no fewer pieces first; else the layer is
    read by the head alone, so no layer is worse with a lens than with the head.
    """
    n_layers, width = states.model.n_layers, head.dense.in_features
    ways: dict[tuple[int, bool], list[tuple[int, float]]] = {
        (layer, translated): [] for layer in range(n_layers + 1) for translated in (False, True)
    }
    readings = _readings(translators, n_layers, width)
    for index, row in enumerate(rows):
        for way, counts in _counts(head, readings, states, row).items():
            ways[way].append(counts)
        progress("judging", index + 1, len(rows))
    sizes = np.array([len(content_of(row)) for row in rows])
    counted = {way: _joined(counts) for way, counts in ways.items() if counts}
    return LensTable(tuple(_layer(layer, counted, sizes) for layer in range(n_layers + 1)), len(rows), int(sizes.sum()))


def _readings(translators: Translators, n_layers: int, width: int) -> dict[tuple[int, bool], Reading]:
    """(layer, whether it is translated) -> how its states are read; bare ones only where the head can read them."""
    readings: dict[tuple[int, bool], Reading] = {}
    for layer in range(n_layers + 1):
        if layer == n_layers or translators.of_layer[layer].in_features == width:
            readings[layer, False] = lambda states: states
        if layer < n_layers:
            readings[layer, True] = translators.of_layer[layer]
    return readings


@torch.no_grad()
def _counts(
    head: MaskedHead, readings: dict[tuple[int, bool], Reading], states: FrozenStates, row: Row
) -> dict[tuple[int, bool], tuple[int, float]]:
    """(layer, whether it is translated) -> pieces that are named first, and the sum of divergences, of one row."""
    content = content_of(row)
    hidden = states.of_pieces([row], [content], range(states.model.n_layers + 1))
    ids = torch.tensor([row.ids[piece] for piece in content], device=hidden[-1].device)
    counts = dict.fromkeys(readings, (0, 0.0))
    for part in head.slices_of_places(len(ids)):
        teacher = log_softmax(head(hidden[-1][part]), -1)
        for way, reading in readings.items():
            logits = head(reading(hidden[way[0]][part]))
            right = int((logits.argmax(-1) == ids[part]).sum())
            kl = float(divergence(teacher, logits).double().sum())
            counts[way] = counts[way][0] + right, counts[way][1] + kl
    return counts


def _joined(counts: Sequence[tuple[int, float]]) -> LayerCounts:
    return LayerCounts(np.array([right for right, _ in counts]), np.array([kl for _, kl in counts]))


def _layer(layer: int, counted: dict[tuple[int, bool], LayerCounts], sizes: np.ndarray) -> LayerRecovery:
    bare, through_translator = counted.get((layer, False)), counted.get((layer, True))
    translated = through_translator is not None and (bare is None or through_translator.is_better_than(bare))
    reading = through_translator if translated else bare
    assert reading is not None  # each layer can be read in one way at least
    return LayerRecovery(
        layer,
        share_over_rows(reading.right, sizes),
        float(reading.kl.sum() / sizes.sum()),
        None if bare is None else share_over_rows(bare.right, sizes),
        None if bare is None else float(bare.kl.sum() / sizes.sum()),
        translated,
    )


def share_over_rows(right: np.ndarray, sizes: np.ndarray) -> Interval:
    """The share of all pieces, with a 95 % interval: whole rows are drawn again, since pieces of one text go together.

    Efron & Tibshirani (1993), "An Introduction to the Bootstrap", chapter 13: percentiles of resamples.
    """
    drawn = np.random.default_rng(0).integers(len(sizes), size=(RESAMPLES, len(sizes)))
    shares = right[drawn].sum(1) / sizes[drawn].sum(1)
    low, high = np.percentile(shares, (2.5, 97.5))
    return Interval(float(right.sum() / sizes.sum()), float(low), float(high))
