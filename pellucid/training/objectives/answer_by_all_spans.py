"""Answer by all spans: where the heaviest spans alone decide, the answer that all spans would give learns the labels as well.

Through the heaviest spans alone the labels reach few states, and never the spans that were not used; so the encoder learns less from a
text. As deep supervision does (Lee et al. 2015), a second answer, which nobody is shown, brings the whole text's gradient back.
"""

from torch import Tensor

from pellucid.core.foundation.kinds import objectives
from pellucid.training.evidence.pooled_by_all_spans import pooled_by_all_spans
from pellucid.training.objective import ObjectiveContext, StepPart
from pellucid.training.training_loss import TrainingLoss, balancing_weights, gold_numbers


@objectives.add("answer_by_all_spans", reads="spans", pooler_setting="n_heaviest")
class AnswerByAllSpans:
    """The labels' cross-entropy, in nats, of the answer by all legal spans, from the states that the step has read; no further pass.

    Labels are smoothed and classes weighed as the recipe says.
    """

    def __init__(self, context: ObjectiveContext) -> None:
        classifier, recipe = context.classifier, context.recipe
        self.context = context
        self.gold = gold_numbers(context.train.examples, classifier.labels, classifier.problem)
        weights = balancing_weights(self.gold, len(classifier.labels)) if recipe.balanced else None
        self.labels = TrainingLoss(
            classifier.problem, {}, smoothing=recipe.label_smoothing, class_weights=weights
        )

    def losses(self, part: StepPart) -> Tensor:
        """[example]: 0 or more."""
        head = self.context.classifier.network.head
        logits = head(pooled_by_all_spans(self.context, part).vector.to(head.weight.dtype))
        return self.labels.label_loss(logits, self.gold[list(part.indices)].to(logits.device))
