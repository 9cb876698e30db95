"""Sufficiency margin: the heaviest words alone cost less than the whole text does, by a margin.

Chan et al. (2022), "UNIREX: A Unified Learning Framework for Language Model Rationale Extraction": the margin criterion of
sufficiency, with the margin and the shares of the released code.
"""

from collections.abc import Sequence

from torch import Tensor
from torch.nn import functional as F

from pellucid.core.foundation.checks import between
from pellucid.core.foundation.kinds import objectives
from pellucid.training.evidence.cut_texts import TOP, CutTexts
from pellucid.training.objective import ObjectiveContext, StepPart


@objectives.add("sufficiency_margin", reads="weights")
class SufficiencyMargin:
    """max(0, loss of the heaviest units alone - loss of the text + margin), in nats; mean over the shares in top.

    The losses are the label's. All other units are absent. A unit of a model with spans weighs as much as all spans that it lies in.

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
