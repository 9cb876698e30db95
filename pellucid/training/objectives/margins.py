"""Objectives about what the evidence does to the answer: it falls without it, and stays with it alone."""

from collections.abc import Sequence

from torch import Tensor
from torch.nn import functional as F

from pellucid.base.checks import at_least, between, one_of
from pellucid.base.kinds import objectives
from pellucid.training.cut_texts import (
    TOP,
    CutTexts,
    TextDraws,
    Undecided,
    answer_divergence,
    log_answers,
    logits_of,
    texts_read_again,
    undecided_answer,
)
from pellucid.training.drawn_spans import SpanReader, drawn_spans, reinforced_costs
from pellucid.training.objective import ObjectiveContext, StepPart


@objectives.add("comprehensiveness_margin", reads="weights")
class ComprehensivenessMargin:
    """max(0, loss of the text - loss of the text without its heaviest units + margin), in nats; mean over the shares in
    top.

    Without its heaviest words a text costs more, by a margin, than with them.

    Source: Chan et al. (2022), "UNIREX: A Unified Learning Framework for Language Model Rationale
    Extraction": the margin criterion of comprehensiveness, with the margin and the shares of the
    released code.

    The losses are the label's. The units that are left out are absent, so they cost nothing. A unit of a model with
    spans weighs as much as all spans that it lies in.

    margin: nats, 0 to 100. top: shares of a text's units, each 0.01 to 0.99, of one unit or more.
    share: of the texts that are cut in a step, 0.01 to 1; the others cost 0, these count more.
    """

    def __init__(
        self,
        context: ObjectiveContext,
        *,
        margin: float = 1.0,
        top: Sequence[float] = TOP,
        share: float = 1.0,
    ) -> None:
        between("margin", margin, 0, 100)
        self.margin = margin
        self.texts = CutTexts("comprehensiveness_margin", context, top, share, "left_out")

    def losses(self, part: StepPart) -> Tensor:
        """[example]: 0 or more, in nats."""
        return self.texts.losses(part, lambda costs: F.relu(costs.whole[:, None] - costs.cut + self.margin))


@objectives.add("sufficiency_margin", reads="weights")
class SufficiencyMargin:
    """max(0, loss of the heaviest units alone - loss of the text + margin), in nats; mean over the shares in top.

    The heaviest words alone cost less than the whole text does, by a margin.

    Source: Chan et al. (2022), "UNIREX: A Unified Learning Framework for Language Model Rationale
    Extraction": the margin criterion of sufficiency, with the margin and the shares of the released
    code.

    The losses are the label's. All other units are absent. A unit of a model with spans weighs as much as all spans
    that it lies in.

    margin: nats, 0 to 100. top: shares of a text's units, each 0.01 to 0.99, of one unit or more.
    share: of the texts that are cut in a step, 0.01 to 1; the others cost 0, these count more.
    """

    def __init__(
        self,
        context: ObjectiveContext,
        *,
        margin: float = 0.1,
        top: Sequence[float] = TOP,
        share: float = 1.0,
    ) -> None:
        between("margin", margin, 0, 100)
        self.margin = margin
        self.texts = CutTexts("sufficiency_margin", context, top, share, "alone")

    def losses(self, part: StepPart) -> Tensor:
        """[example]: 0 or more, in nats."""
        return self.texts.losses(part, lambda costs: F.relu(costs.cut - costs.whole[:, None] + self.margin))


@objectives.add("leave_out", reads="spans")
class LeaveOut:
    """Kullback-Leibler divergence, in nats, from an undecided answer to the answer to the text without drawn spans.

    Without its heaviest spans a text leaves the model undecided.

    Source: Comprehensiveness of DeYoung et al. (2020), "ERASER", as something to learn: the spans are
    drawn by their weights, and the draw learns by REINFORCE (Williams 1992). The words of the spans are
    absent, so the cut text costs what its words cost.

    The baseline of the draw is the whole text's own distance from undecided: what counts is how much nearer the cut
    brought it. A text without spans costs 0.

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
        self.undecided = undecided_answer(undecided, context.train.examples, classifier.labels, classifier.problem).to(
            classifier.device
        )
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
