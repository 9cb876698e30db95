"""Farthest weights: how far can a text's weights move while its answer stays?

Jain & Wallace (2019), "Attention is not Explanation", section 4.2.2, whose answers may move by a total variation of .01.
"""

import math

import torch
from torch import Tensor

from pellucid.core.foundation.kinds import attention_tests
from pellucid.evaluation.shared.weighed_texts import WeighedText
from pellucid.evaluation.weight_search import farthest


@attention_tests.add(
    better="lower",
    lowest=0.0,
    highest=math.log(2),
    meaning="How far other weights can lie from the model's own while the answer stays, in nats; at most 0.69.",
)
def farthest_weights(text: WeighedText, *, limit: float = 0.01) -> Tensor:
    """[1]: the largest Jensen-Shannon divergence from the model's own weights, in nats, of weights that keep the answer.

    limit: by how much the answer may move, in total variation distance, .0001 to 1. Far weights that answer alike are another
    explanation; where they are far for most texts, the answer does not hang on the weights.
    """
    return torch.tensor([farthest.farthest_weights(text, limit=limit).divergence], dtype=torch.float64)
