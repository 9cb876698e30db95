"""Read alone: what the model answers to its heaviest spans alone is what it answers to the whole text.

Sufficiency of DeYoung et al. (2020), "ERASER", as something to learn: the spans are drawn by their weights, and the
draw learns by REINFORCE (Williams 1992) with the other draw as baseline (Kool, van Hoof & Welling 2019).
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.kinds import objectives
from pellucid.training.evidence.answers import answer_divergence, log_answers, logits_of
from pellucid.training.evidence.drawn_spans import (
    SpanReader,
    drawn_spans,
    reinforced_costs,
)
from pellucid.training.evidence.read_again import texts_read_again
from pellucid.training.evidence.text_draws import TextDraws
from pellucid.training.objective import ObjectiveContext, StepPart

DRAWS = 2  # of a text in a step: each is the other's baseline


@objectives.add("read_alone", reads="spans")
class ReadAlone:
    """Kullback-Leibler divergence, in nats, from the text's answer to the answer to drawn spans alone; two draws a text.

    The text's answer is the aim and does not learn from this. The words outside the spans are absent; where both draws are the same
    spans, they are read once. A text without spans costs 0.

    n_spans: how many spans are drawn and read together, 1 or more.
    share: of the texts that are read in a step, 0.01 to 1; the others cost 0, these count more.
    """

    def __init__(self, context: ObjectiveContext, *, n_spans: int = 1, share: float = 1.0) -> None:
        at_least("n_spans", n_spans, 1)
        self.context, self.n_spans = context, n_spans
        self.draws = TextDraws("read_alone", context.recipe.seed, share)
        self.reader = SpanReader(context.train)

    def losses(self, part: StepPart) -> Tensor:
        """[example]: 0 or more, in nats."""
        again = texts_read_again(self.context, self.draws, part)
        if not again.numbers:
            return part.output.logits.new_zeros(len(part.indices))
        points = self.draws.points(again.rows, part.done, DRAWS * self.n_spans)
        drawn = [drawn_spans(again.spans, some) for some in points.split(self.n_spans, dim=1)]
        aims = log_answers(part.output.logits[again.numbers].detach(), self.context.classifier.problem)
        costs = torch.stack(
            self._costs(again.indices, again.spans.unit, [each.parts for each in drawn], aims)
        )
        chances = torch.stack([each.log_chance for each in drawn])
        # The mean of the other draws, of which there is one.
        return self.draws.for_examples(
            reinforced_costs(costs, costs.flip(0), chances).mean(0), again.numbers, len(part.indices)
        )

    def _costs(
        self, indices: list[int], unit: str, drawn: list[Sequence[frozenset[int]]], aims: Tensor
    ) -> list[Tensor]:
        """For each draw [example]: how far the answers to the drawn parts lie from the aims."""
        keys = {key: None for parts in drawn for key in zip(indices, parts, strict=True)}
        rows = [self.reader.only(index, unit, parts) for index, parts in keys]
        answers = log_answers(logits_of(self.context, rows), self.context.classifier.problem)
        order = {key: number for number, key in enumerate(keys)}
        return [
            answer_divergence(aims, answers[[order[key] for key in zip(indices, parts, strict=True)]])
            for parts in drawn
        ]
