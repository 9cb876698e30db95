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


@attention_tests.add(better="higher", lowest=-math.log(2), highest=math.log(2))
def heaviest_erased(text: WeighedText) -> Tensor:
    """[1]: divergence of the answers without the heaviest unit less that without another one, in nats; above 0 speaks for it.

    The other weights are divided by their sum; where one unit has all weight, the others share it equally.
    """
    count = len(text)
    others = 1 - torch.eye(count, dtype=text.weights.dtype)
    rest = text.weights * others  # [erased unit]
    sums = rest.sum(1, keepdim=True)
    weights = torch.where(sums > 0, rest / sums.clamp_min(torch.finfo(rest.dtype).tiny), others / (count - 1))
    own = text.logits(text.weights[None]).softmax(-1)
    moved = jensen_shannon(text.logits(weights).softmax(-1), own.expand(count, -1))
    heaviest = int(text.weights.argmax())
    return (moved[heaviest] - (moved.sum() - moved[heaviest]) / (count - 1))[None]
