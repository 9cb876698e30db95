"""Same spans: two readings of a text choose alike, also where words that do not matter differ.

Liang et al. (2021), "R-Drop", ask this of the answers under two dropouts; here it is asked of the weights of spans. Their distance is
symmetric; so is ours, the Jensen-Shannon divergence, which is at most log 2.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from pellucid.core.foundation.checks import between, one_of
from pellucid.core.foundation.kinds import objectives
from pellucid.core.passes.divergences import jensen_shannon
from pellucid.core.passes.precision import widened
from pellucid.core.passes.trace import SpanTrace
from pellucid.training.evidence.read_again import texts_read_again
from pellucid.training.evidence.second_readings import READINGS, Reading, SecondReading, SecondReadings
from pellucid.training.evidence.text_draws import TextDraws
from pellucid.training.objective import ObjectiveContext, StepPart

HIGHEST_SHARE = 0.9


@objectives.add("same_spans", reads="spans")
class SameSpans:
    """Jensen-Shannon divergence, in nats, of the span weights of two readings; 0 to log 2.

    The second reading has another dropout, and differs outside the heaviest span. Both readings learn. A text without spans costs 0.

    reading: "hidden", some words are masked (the pad token where there is no mask token); "synonyms", some words are exchanged for
    WordNet's most frequent synonyms where the text keeps its number of words (or pieces, where spans are made of these); "window", only
    neighbouring words are read, and compared are the weights of the spans among them, as shares of their sum.
    hidden: share of a text's words (or pieces) that the second reading does not see or that it exchanges, at least one where there is
    one outside the heaviest span; 0 for dropout alone, to 0.9.
    share: of the texts that are read twice in a step, 0.01 to 1; the others cost 0, these count more.
    Raises `BadSetting` for synonyms where WordNet is not installed.
    """

    def __init__(
        self,
        context: ObjectiveContext,
        *,
        reading: Reading = "hidden",
        hidden: float = 0.15,
        share: float = 1.0,
    ) -> None:
        one_of("reading", reading, READINGS)
        between("hidden", hidden, 0, HIGHEST_SHARE)
        self.context = context
        self.draws = TextDraws("same_spans", context.recipe.seed, share)
        self.readings = SecondReadings(context, reading, hidden)

    def losses(self, part: StepPart) -> Tensor:
        """[example]: 0 to log 2 divided by the share, in nats."""
        again = texts_read_again(self.context, self.draws, part)
        if not again.numbers:
            return part.output.logits.new_zeros(len(part.indices))
        others = self.second_readings(again.indices, again.spans, part.done)
        classifier = self.context.classifier
        with self.context.autocast():
            second = classifier.network(**classifier.place([one.row for one in others])).spans
        weights = widened(second.weights)
        first = weights_from(widened(again.spans.weights), [one.first for one in others], second)
        divergences = jensen_shannon(first.flatten(1), weights.flatten(1))
        return self.draws.for_examples(divergences, again.numbers, len(part.indices))

    def second_readings(self, indices: Sequence[int], trace: SpanTrace, done: int) -> list[SecondReading]:
        """How the texts are read the second time. trace: the weights of the first."""
        width = trace.scores.shape[-1]
        heaviest = trace.scores.detach().flatten(1).argmax(1).tolist()
        return [
            self.readings.of(
                index,
                trace.unit,
                range(best // width, best % width + 1),
                self.draws.points([row], done, len(row))[0].tolist(),
            )
            for index, best, row in zip(indices, heaviest, self.context.rows(indices), strict=True)
        ]


def weights_from(weights: Tensor, firsts: Sequence[int], second: SpanTrace) -> Tensor:
    """[text first last]: the first reading's weights of the spans that the second has, as shares of their sum; both count parts from 0.

    weights: [text first last], of whole texts. firsts: of each text the part with which the second reading begins.
    """
    size = second.scores.shape[-1]
    ends = torch.tensor(firsts, device=weights.device)[:, None] + torch.arange(size, device=weights.device)
    padded = F.pad(weights, (0, size, 0, size))  # a window near the end is shorter than the longest one
    texts = torch.arange(len(weights), device=weights.device)[:, None, None]
    counts = torch.tensor(second.parts, device=weights.device)[:, None]
    is_read = torch.arange(size, device=weights.device) < counts
    # Not by the second one's scores: a pooler that reads the heaviest spans alone may have chosen others there.
    within = padded[texts, ends[:, :, None], ends[:, None, :]].where(
        is_read[:, :, None] & is_read[:, None, :], 0
    )
    return within / within.sum((1, 2), keepdim=True)  # above 0: the heaviest span lies within
