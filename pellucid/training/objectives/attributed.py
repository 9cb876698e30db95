"""Attributed: the weights lie on the spans that an attribution method finds in the model's own answer.

A method that reads a text several times, or looks at the answer first, finds words without which the answer falls; here the weights learn
to find them in the one pass that gives the answer. As Jethani et al. (2022), "FastSHAP: Real-Time Shapley Value Estimation", learn Shapley
values; but what learns is the model itself, which then answers by these spans.
"""

import torch
from torch import Tensor

from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.kinds import objectives
from pellucid.models.pooling.heaviest_alone import heaviest_apart
from pellucid.training.evidence.own_attributions import OwnAttributions
from pellucid.training.evidence.pooled_by_all_spans import weights_of_all_spans
from pellucid.training.evidence.text_draws import TextDraws
from pellucid.training.objective import ObjectiveContext, StepPart


@objectives.add("attributed", reads="spans")
class Attributed:
    """-log of the weight, in nats, of the spans with the highest attributions that share no word; the mean over these spans.

    A span's attribution is the sum over its words of what the method says of them, for the class that the model predicts now, less the text's
    mean word. Of further spans only those above 0 count. The method's scores are the aim and do not learn. Where the answer uses the
    heaviest spans alone, the weights are those that all spans would have.

    method: an attribution method that scores pieces. n_spans: how many spans, 1 or more. share: of the texts that are read in a step, 0.01 to 1;
    the others cost 0, these count more.
    Raises `UnknownName`, `ModelCannot` or `BadSetting` for a method that does not exist, does not work with the model or scores no pieces.
    """

    def __init__(
        self,
        context: ObjectiveContext,
        *,
        method: str = "attention_gradient",
        n_spans: int = 1,
        share: float = 1.0,
    ) -> None:
        at_least("n_spans", n_spans, 1)
        self.context, self.n_spans = context, n_spans
        self.draws = TextDraws("attributed", context.recipe.seed, share)
        self.attributions = OwnAttributions(context, method)

    def losses(self, part: StepPart) -> Tensor:
        """[example]: 0 or more, in nats."""
        numbers = self.draws.sampled(self.context.rows(part.indices), part.done)
        if not numbers:
            return part.output.logits.new_zeros(len(part.indices))
        trace = weights_of_all_spans(self.context, part)
        scores, normaliser = trace.scores[numbers], trace.log_normaliser[numbers]
        indices = [part.indices[number] for number in numbers]
        parts = self.attributions.of_parts(indices, trace.unit, scores.shape[-1]).to(scores.device)
        spans, nothing = heaviest_apart(worth_finding(parts, scores.detach() > -torch.inf), self.n_spans)
        costs = normaliser[:, None] - scores.flatten(1).gather(1, spans)
        costs = torch.where(nothing, torch.zeros_like(costs), costs)  # -inf - -inf of a text without spans
        losses = costs.sum(1) / (~nothing).sum(1).clamp_min(1)
        return self.draws.for_examples(losses, numbers, len(part.indices))


def worth_finding(parts: Tensor, legal: Tensor) -> Tensor:
    """[text first last]: the sums of the parts' scores of each legal span; -inf where it is not above 0, unless it is the text's highest.

    parts: [text part]. legal: [text first last] bool.
    """
    before = torch.nn.functional.pad(parts.cumsum(1), (1, 0))
    sums = (before[:, None, 1:] - before[:, :-1, None]).masked_fill(~legal, -torch.inf)
    highest = sums.amax((1, 2), keepdim=True)
    return sums.masked_fill((sums <= 0) & (sums < highest), -torch.inf)
