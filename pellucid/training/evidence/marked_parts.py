"""What people marked in train texts, piece by piece, and which of a model's units or spans that touches."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from pellucid.core.passes.batch import Batch, Row
from pellucid.core.passes.trace import SpanTrace, UnitTrace
from pellucid.core.text.example import marked
from pellucid.models.pooling.unit_vectors import parts_with


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


def marked_parts(
    rows: Sequence[Row], marks: Sequence[Sequence[int]], unit: str, device: torch.device
) -> Tensor:
    """[example part]: 1 for the parts with a marked piece, else 0. marks: of each row, as `marked_pieces` gives them."""
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
