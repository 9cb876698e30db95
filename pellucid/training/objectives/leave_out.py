"""Leave out: without its heaviest spans a text leaves the model undecided.

Comprehensiveness of DeYoung et al. (2020), "ERASER", as something to learn: the spans are drawn by their weights, and
the draw learns by REINFORCE (Williams 1992). The words of the spans are absent, so the cut text costs what its words cost.
"""

from torch import Tensor

from pellucid.core.foundation.checks import at_least, one_of
from pellucid.core.foundation.kinds import objectives
from pellucid.training.evidence.answers import (
    Undecided,
    answer_divergence,
    log_answers,
    logits_of,
    undecided_answer,
)
from pellucid.training.evidence.drawn_spans import SpanReader, drawn_spans, reinforced_costs
from pellucid.training.evidence.read_again import texts_read_again
from pellucid.training.evidence.text_draws import TextDraws
from pellucid.training.objective import ObjectiveContext, StepPart


@objectives.add("leave_out", reads="spans")
class LeaveOut:
    """Kullback-Leibler divergence, in nats, from an undecided answer to the answer to the text without drawn spans.

    The baseline of the draw is the whole text's own distance from undecided: what counts is how much nearer the cut brought it.
    A text without spans costs 0.

    n_spans: how many spans are drawn and left out together, 1 or more.
    undecided: "uniform", all classes alike; or "priors", as frequent as among the train texts.
    share: of the texts that are cut in a step, 0.01 to 1; the others cost 0, these count more.
    """

    def __init__(
        self,
        context: ObjectiveContext,
        *,
        n_spans: int = 1,
        undecided: Undecided = "uniform",
        share: float = 1.0,
    ) -> None:
        at_least("n_spans", n_spans, 1)
        one_of("undecided", undecided, ("uniform", "priors"))
        self.context, self.n_spans = context, n_spans
        classifier = context.classifier
        self.undecided = undecided_answer(
            undecided, context.train.examples, classifier.labels, classifier.problem
        ).to(classifier.device)
        self.draws = TextDraws("leave_out", context.recipe.seed, share)
        self.reader = SpanReader(context.train)

    def losses(self, part: StepPart) -> Tensor:
        """[example]: 0 or more, in nats."""
        again = texts_read_again(self.context, self.draws, part)
        if not again.numbers:
            return part.output.logits.new_zeros(len(part.indices))
        drawn = drawn_spans(again.spans, self.draws.points(again.rows, part.done, self.n_spans))
        cut = [
            self.reader.without(index, again.spans.unit, parts)
            for index, parts in zip(again.indices, drawn.parts, strict=True)
        ]
        logits = logits_of(self.context, cut)
        costs, baselines = (self._distances(each) for each in (logits, part.output.logits[again.numbers]))
        return self.draws.for_examples(
            reinforced_costs(costs, baselines, drawn.log_chance), again.numbers, len(part.indices)
        )

    def _distances(self, logits: Tensor) -> Tensor:
        """[example]: how far answers lie from the undecided one."""
        answers = log_answers(logits, self.context.classifier.problem)
        return answer_divergence(self.undecided.to(answers).expand_as(answers), answers)
