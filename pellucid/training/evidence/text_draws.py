"""Random numbers of training texts that depend on seed, step and text alone, so that a killed training goes on
alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from pellucid.base.checks import between
from pellucid.models.pooling.pooler import Pooled, parts_with
from pellucid.models.pooling.span_attention import all_spans_weigh
from pellucid.run.batch import Batch, Row
from pellucid.run.blank import derived_seed
from pellucid.run.trace import SpanTrace, UnitTrace
from pellucid.text.example import marked
from pellucid.training.evidence.drawn_spans import of_examples
from pellucid.training.objective import ObjectiveContext, StepPart

LOWEST_SHARE = 0.01


@dataclass(frozen=True)
class TextDraws:
    """The draws of one objective in one training.

    name: the objective's; two objectives draw differently. seed: the recipe's. share: of the texts that the objective
    acts on in a step, 0.01 to 1; its losses are divided by it, so that their mean stays the same.
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
        generator = torch.Generator().manual_seed(derived_seed(self.seed, self.name, count, done, row.ids, row.types))
        return torch.rand(count, generator=generator, dtype=torch.float64)


# The texts of a training step that an objective about spans reads again: those that the draw chose and
# that have a span.


@dataclass(frozen=True)
class ReadAgain:
    """numbers: places of the texts in the step's part. indices: their numbers among the train texts. rows, spans:
    theirs.
    """

    numbers: list[int]
    indices: list[int]
    rows: list[Row]
    spans: SpanTrace


def texts_read_again(context: ObjectiveContext, draws: TextDraws, part: StepPart) -> ReadAgain:
    """The texts of a step's part that are read again; there may be none."""
    spans = part.output.spans
    assert spans is not None  # the pooler was checked
    rows = context.rows(part.indices)
    has_span = spans.log_normaliser.isfinite().tolist()
    numbers = [number for number in draws.sampled(rows, part.done) if has_span[number]]
    return ReadAgain(
        numbers,
        [part.indices[number] for number in numbers],
        [rows[number] for number in numbers],
        of_examples(spans, numbers),
    )


# What a model whose answer uses its heaviest spans alone would pool from all of them, from the states
# that a step has read.


def pooled_by_all_spans(context: ObjectiveContext, part: StepPart) -> Pooled:
    """The pooled vectors and the weights of all legal spans, with a graph; the layer is used once more, nothing is read
    again.
    """
    states = part.output.states
    assert states is not None  # composed networks give them
    pooler = context.classifier.network.pooler
    pieces = context.classifier.place(context.rows(part.indices))["pieces"]
    with all_spans_weigh(pooler):
        pooled: Pooled = pooler(states.states, pieces)
    return pooled


def weights_of_all_spans(context: ObjectiveContext, part: StepPart) -> SpanTrace:
    """The weights of all legal spans, also where the answer uses the heaviest ones alone."""
    spans = part.output.spans
    if context.classifier.network.pooler.n_heaviest is not None:
        spans = pooled_by_all_spans(context, part).spans
    assert spans is not None  # the pooler was checked
    return spans


# What people marked in train texts, piece by piece, and which of a model's units or spans that touches.


def marked_pieces(batch: Batch) -> list[tuple[int, ...]]:
    """For each text [piece]: 1 where a piece overlaps a mark, else 0."""
    return [_of_text(batch, number) for number in range(len(batch))]


def _of_text(batch: Batch, number: int) -> tuple[int, ...]:
    units = batch.units[number]
    pieces = [0] * len(units)
    marks = marked(units, batch.examples[number].rationales)
    for piece, is_marked in zip(units.content, () if marks is None else marks, strict=marks is not None):
        pieces[piece] = int(is_marked)
    return tuple(pieces)


def marked_parts(rows: Sequence[Row], marks: Sequence[Sequence[int]], unit: str, device: torch.device) -> Tensor:
    """[example part]: 1 for the parts with a marked piece, else 0. marks: of each row, as `marked_pieces` gives
    them.
    """
    width = max(map(len, rows))
    words, segments, pieces = (
        torch.tensor([[*column, *[empty] * (width - len(column))] for column in columns], device=device)
        for columns, empty in (
            ([row.word_index for row in rows], -1),
            ([row.segments for row in rows], -1),
            (marks, 0),
        )
    )
    return parts_with(pieces, words, segments, unit)


def overlapping(trace: SpanTrace | UnitTrace, parts: Tensor) -> Tensor:
    """[example unit], or [example first last]: whether a unit or span has a marked part. parts: from `marked_parts`."""
    return parts.bool() if isinstance(trace, UnitTrace) else marks_in_spans(parts) > 0


def inside(parts: Tensor) -> Tensor:
    """[example first last]: whether every part of a span is marked."""
    numbers = torch.arange(parts.shape[1], device=parts.device)
    lengths = numbers[None, :] - numbers[:, None] + 1
    return (marks_in_spans(parts) == lengths) & (lengths > 0)


def marks_in_spans(parts: Tensor) -> Tensor:
    """[example first last]: how many marked parts a span has; 0 or less where the last part lies before the first."""
    before = F.pad(parts.cumsum(1), (1, 0))
    return before[:, None, 1:] - before[:, :-1, None]
