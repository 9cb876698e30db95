"""Heaviest erased: does the answer move more when the heaviest unit loses its weight than when another one does?

Serrano & Smith (2019), "Is Attention Interpretable?", section 4.1: the difference of Jensen-Shannon divergences. They draw one
other unit; we take the mean over all others, which is what the draw estimates.
"""

import math

import torch
from torch import Tensor

from pellucid.core.foundation.kinds import attention_tests
from pellucid.core.passes.divergences import jensen_shannon
from pellucid.evaluation.shared.weighed_texts import WeighedText


@attention_tests.add(
    better="higher",
    lowest=-math.log(2),
    highest=math.log(2),
    idle=0.0,
    meaning="How much farther the answer moves when the heaviest unit loses its weight than when another one does, in nats.",
)
def heaviest_erased(text: WeighedText) -> Tensor:
    """[1]: divergence of the answers without the heaviest unit less that without another one, in nats; above 0 speaks for it.

    The other weights are divided by their sum; where one unit has all weight, the others share it equally.
    """
    own = text.logits(text.weights[None]).softmax(-1)
    heaviest, count = int(text.weights.argmax()), len(text)
    moved = jensen_shannon(_without_each(text, heaviest).softmax(-1), own.expand(count, -1))
    return (moved[heaviest] - (moved.sum() - moved[heaviest]) / (count - 1))[None]


def _without_each(text: WeighedText, heaviest: int) -> Tensor:
    """[erased unit, class]: the logits without each unit, (logits - alpha l) / (1 - alpha).

    Only the heaviest unit's alpha can be near 1, where that quotient is rounding: its others are summed instead.
    """
    alpha = text.weights[:, None]
    others = text.weights.clone()
    others[heaviest] = 0
    if others.sum() == 0:
        others = torch.ones_like(others)
        others[heaviest] = 0
    rest = 1 - alpha
    rest[heaviest] = 1
    logits = (text.logits(text.weights[None]) - alpha * text.unit_logits) / rest
    logits[heaviest] = text.logits(others[None] / others.sum())[0]
    return logits
