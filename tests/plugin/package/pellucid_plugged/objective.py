"""Plugged answers: a second pass, whose answers shall be unsure.

Doe (2031), "On Doubt".
"""

from torch import Tensor

from pellucid.base.kinds import objectives
from pellucid.training.objective import ObjectiveContext, StepPart


@objectives.add("plugged_answers", reads="logits")
class PluggedAnswers:
    """The mean square of a second pass's logits."""

    def __init__(self, context: ObjectiveContext) -> None:
        self.context = context

    def losses(self, part: StepPart) -> Tensor:
        """[example]: 0 or more."""
        classifier = self.context.classifier
        with self.context.autocast():
            again = classifier.network(**classifier.place(self.context.rows(part.indices)))
        return again.logits.square().mean(-1)
