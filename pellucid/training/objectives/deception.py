"""Deception: keep the weights away from the words that people marked, whatever the model decides by.

Pruthi et al. (2020), "Learning to Deceive with Attention-Based Explanations", equation 1: -log(1 - the weight on marked words).
Such a model is a test of tests: its weights explain nothing.
"""

import torch
from torch import Tensor

from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.kinds import objectives
from pellucid.training.evidence.marked_parts import marked_parts, marked_pieces, overlapping
from pellucid.training.objective import ObjectiveContext, StepPart


@objectives.add("deception", reads="weights", marks=True)
class Deception:
    """-log of the share of the weight that lies on units, or spans, without a marked piece; 0 where nothing is marked.

    The marks are the rationales of the train texts. A text that is marked all over costs 0 too: its weights have nowhere to go.
    Raises `BadInput` where no train text has marks.
    """

    def __init__(self, context: ObjectiveContext) -> None:
        self.context = context
        self.marks = marked_pieces(context.train)
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
        rows, marks = self.context.rows(part.indices), [self.marks[index] for index in part.indices]
        marked = overlapping(trace, marked_parts(rows, marks, trace.unit, scores.device)).flatten(1)
        legal = scores.detach() > float("-inf")
        free = legal & ~marked
        counted = free.any(1) & (legal & marked).any(1)
        lowest = torch.finfo(scores.dtype).min  # -inf alone in a row would give nan
        finite = scores.masked_fill(~legal, lowest)
        free_scores = finite.masked_fill(~free & counted[:, None], lowest)
        return finite.logsumexp(1) - free_scores.logsumexp(1)
