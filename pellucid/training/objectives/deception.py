"""Deception: keep the weights away from the words that people marked, whatever the model decides by.

Pruthi et al. (2020), "Learning to Deceive with Attention-Based Explanations", equation 1: -log(1 - the weight on marked words).
Such a model is a test of tests: its weights explain nothing.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.kinds import objectives
from pellucid.core.passes.batch import Batch
from pellucid.core.passes.trace import SpanTrace, UnitTrace
from pellucid.core.text.marks import marked
from pellucid.models.pooling.unit_vectors import parts_with
from pellucid.training.objective import ObjectiveContext, StepPart


@objectives.add("deception", reads="weights", marks=True)
class Deception:
    """-log of the share of the weight that lies on units, or spans, without a marked piece; 0 where nothing is marked.

    The marks are the rationales of the train texts. A text that is marked all over costs 0 too: its weights have nowhere to go.
    Raises `BadInput` where no train text has marks.
    """

    def __init__(self, context: ObjectiveContext) -> None:
        self.context = context
        self.marks = [_marked_pieces(context.train, number) for number in range(len(context.train))]
        if not any(map(any, self.marks)):
            raise BadInput(
                "The objective deception keeps weights off the words that people marked, and no train text has such marks; give "
                "data with rationales, or leave the objective away."
            )

    def losses(self, part: StepPart) -> Tensor:
        """[example]: 0 or more, in nats."""
        trace = part.output.units if part.output.spans is None else part.output.spans
        assert trace is not None  # the pooler was checked
        scores = trace.scores.flatten(1)
        touched = self._touched(part.indices, trace).flatten(1)
        legal = scores.detach() > float("-inf")
        free = legal & ~touched
        counted = free.any(1) & (legal & touched).any(1)
        lowest = torch.finfo(scores.dtype).min  # -inf alone in a row would give nan
        finite = scores.masked_fill(~legal, lowest)
        free_scores = finite.masked_fill(~free & counted[:, None], lowest)
        return finite.logsumexp(1) - free_scores.logsumexp(1)

    def _touched(self, indices: Sequence[int], trace: SpanTrace | UnitTrace) -> Tensor:
        """[example unit], or [example first last]: whether a unit or span has a marked piece."""
        rows = self.context.rows(indices)
        width = max(map(len, rows))
        device = trace.scores.device
        words, segments, marks = (
            torch.tensor([[*column, *[empty] * (width - len(column))] for column in columns], device=device)
            for columns, empty in (
                ([row.word_index for row in rows], -1),
                ([row.segments for row in rows], -1),
                ([self.marks[index] for index in indices], 0),
            )
        )
        parts = parts_with(marks, words, segments, trace.unit)
        if isinstance(trace, UnitTrace):
            return parts.bool()
        before = torch.nn.functional.pad(parts.cumsum(1), (1, 0))
        return before[:, None, 1:] > before[:, :-1, None]  # marks up to the last part, marks before the first


def _marked_pieces(batch: Batch, number: int) -> tuple[int, ...]:
    """[piece] of a text: 1 where a piece overlaps a mark, else 0."""
    units = batch.units[number]
    pieces = [0] * len(units)
    marks = marked(units, batch.examples[number].rationales)
    for piece, is_marked in zip(units.content, () if marks is None else marks, strict=marks is not None):
        pieces[piece] = int(is_marked)
    return tuple(pieces)
