"""Comprehensiveness margin: without its heaviest words a text costs more, by a margin, than with them.

Chan et al. (2022), "UNIREX: A Unified Learning Framework for Language Model Rationale Extraction": the margin criterion of
comprehensiveness, with the margin and the shares of the released code.
"""

from collections.abc import Sequence

from torch import Tensor
from torch.nn import functional as F

from pellucid.core.foundation.checks import between
from pellucid.core.foundation.kinds import objectives
from pellucid.training.evidence.cut_texts import TOP, CutTexts
from pellucid.training.objective import ObjectiveContext, StepPart


@objectives.add("comprehensiveness_margin", reads="weights")
class ComprehensivenessMargin:
    """max(0, loss of the text - loss of the text without its heaviest units + margin), in nats; mean over the shares in top.

    The losses are the label's. The units that are left out are absent, so they cost nothing. A unit of a model with spans weighs as
    much as all spans that it lies in.

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
