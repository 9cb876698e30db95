"""Soft sufficiency: a text whose words fade by their weights gets the text's answer.

After the metric of Zhao and Aletras (2023), "Incorporating Attribution Importance for Improving Faithfulness Metrics", which draws the
numbers of an embedding that stay; here each word's embedding is multiplied by the chance to stay, so that weights have gradients and
nothing is drawn.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from pellucid.core.foundation.kinds import objectives
from pellucid.core.passes.precision import widened
from pellucid.models.composed.gated_embeddings import read_through
from pellucid.training.evidence.answers import answer_divergence, log_answers
from pellucid.training.evidence.drawn_spans import SpanReader
from pellucid.training.evidence.heaviest_parts import part_weights
from pellucid.training.evidence.text_draws import TextDraws
from pellucid.training.objective import ObjectiveContext, StepPart

SMALLEST = 1e-6  # of a text's largest weight


@objectives.add("soft_sufficiency", reads="weights")
class SoftSufficiency:
    """Kullback-Leibler divergence, in nats, from the text's answer to the answer to the faded text.

    A unit's embedding is multiplied by its weight as a share of the text's largest one; a unit of a model with spans weighs as much as
    all spans that it lies in. Special tokens stay. The text's answer is the aim and does not learn from this.

    share: of the texts that are read in a step, 0.01 to 1; the others cost 0, these count more.
    """

    def __init__(self, context: ObjectiveContext, *, share: float = 1.0) -> None:
        self.context = context
        self.draws = TextDraws("soft_sufficiency", context.recipe.seed, share)
        self.reader = SpanReader(context.train)

    def losses(self, part: StepPart) -> Tensor:
        """[example]: 0 or more, in nats."""
        numbers = self.draws.sampled(self.context.rows(part.indices), part.done)
        if not numbers:
            return part.output.logits.new_zeros(len(part.indices))
        classifier, problem = self.context.classifier, self.context.classifier.problem
        indices = [part.indices[number] for number in numbers]
        gates = self.gates(part, numbers, indices)
        with (
            self.context.autocast(),
            read_through(classifier.network.get_input_embeddings(), gates),
        ):
            faded = classifier.network(**classifier.place(self.context.rows(indices))).logits
        aims = log_answers(part.output.logits[numbers].detach(), problem)
        losses = answer_divergence(aims, log_answers(faded, problem))
        return self.draws.for_examples(losses, numbers, len(part.indices))

    def gates(self, part: StepPart, numbers: Sequence[int], indices: Sequence[int]) -> Tensor:
        """[text piece]: how much of each piece's embedding stays, 0 to 1; 1 for what is no unit."""
        trace = part.output.units if part.output.spans is None else part.output.spans
        assert trace is not None  # the pooler was checked
        weights = widened(part_weights(trace)[list(numbers)])
        shares = weights / weights.amax(1, keepdim=True).clamp_min(SMALLEST)
        rows = self.context.rows(indices)
        places = torch.full((len(rows), max(map(len, rows))), shares.shape[1], dtype=torch.long)
        for line, index in zip(places, indices, strict=True):
            for unit, pieces in enumerate(self.reader.pieces(index, trace.unit)):
                line[list(pieces)] = unit
        whole = torch.cat(
            [shares, shares.new_ones(len(rows), 1)], 1
        )  # the last one is of special tokens and padding
        return whole.gather(1, places.to(whole.device))
