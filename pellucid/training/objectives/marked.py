"""Marked: where people marked the evidence in train texts, the weights lie on spans of it.

The supervision of attention by people's marks of Zhong, Shao & McKeown (2019), "Fine-grained Sentiment Analysis with Faithful
Attention", for weights of spans: -log of the weight on them, the cross-entropy that asks nothing of how it is shared.
"""

from typing import Literal, get_args

import torch
from torch import Tensor

from pellucid.core.foundation.checks import at_least, one_of
from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.kinds import objectives
from pellucid.core.passes.seeds import derived_seed
from pellucid.training.evidence.marked_parts import inside, marked_parts, marked_pieces, overlapping
from pellucid.training.evidence.pooled_by_all_spans import weights_of_all_spans
from pellucid.training.objective import ObjectiveContext, StepPart

Counted = Literal["inside", "overlapping"]


@objectives.add("marked", reads="spans", marks=True)
class Marked:
    """-log of the weight on spans of marked words; 0 in texts without marks, or without a span that counts.

    Where the answer uses the heaviest spans alone, these are the weights that all spans would have: a text whose heaviest spans lie outside
    the marks teaches too.

    spans: which spans count, "inside" the marks or "overlapping" them.
    n_marked: how many of the marked train texts are learnt from, 1 or more, chosen by the seed; None: all.
    Raises `BadInput` where no train text has marks.
    """

    def __init__(
        self, context: ObjectiveContext, *, spans: Counted = "inside", n_marked: int | None = None
    ) -> None:
        one_of("spans", spans, get_args(Counted))
        if n_marked is not None:
            at_least("n_marked", n_marked, 1)
        self.context, self.spans = context, spans
        self.marks = marked_pieces(context.train)
        marked_texts = [number for number, marks in enumerate(self.marks) if any(marks)]
        if not marked_texts:
            raise BadInput(
                "The objective marked learns from the words that people marked, and no train text has such marks; give data with "
                "rationales, or leave the objective away."
            )
        self.learnt = frozenset(sorted(marked_texts, key=self._rank)[:n_marked])

    def _rank(self, number: int) -> int:
        """Random, and the same however many texts there are: of 50 texts and of 200, the 50 are among the 200."""
        row = self.context.train.rows[number]
        return derived_seed(self.context.recipe.seed, "marked", row.ids, row.types)

    def losses(self, part: StepPart) -> Tensor:
        """[example]: 0 or more, in nats."""
        trace = weights_of_all_spans(self.context, part)
        marks = [self.marks[index] for index in part.indices]
        scores = trace.scores
        parts = marked_parts(self.context.rows(part.indices), marks, trace.unit, scores.device)
        fitting = inside(parts) if self.spans == "inside" else overlapping(trace, parts)
        lowest = torch.finfo(scores.dtype).min  # -inf alone in a row would give nan
        counted = fitting & (scores.detach() > float("-inf"))
        learnt = torch.tensor([index in self.learnt for index in part.indices], device=scores.device)
        learnt &= counted.any(2).any(1)
        weight = scores.masked_fill(~counted, lowest).flatten(1).logsumexp(1)
        return torch.where(learnt, trace.log_normaliser - weight, torch.zeros_like(weight))
