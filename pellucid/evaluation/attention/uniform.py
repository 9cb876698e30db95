"""Uniform: how many right answers are lost when every unit of a text has the same weight.

Wiegreffe & Pinter (2019), "Attention is not not Explanation", section 3.2; over real units alone (corrections.md A4.3).
"""

import torch
from torch import Tensor

from pellucid.core.foundation.kinds import attention_tests
from pellucid.evaluation.shared.weighed_texts import WeighedText, fall_of_right_answers


@attention_tests.add(
    better="higher",
    lowest=-1.0,
    highest=1.0,
    idle=0.0,
    meaning="The share of right answers that is lost when every unit of a text has the same weight.",
)
def uniform(text: WeighedText) -> Tensor:
    """[1]: right with the model's own weights less right with equal ones; near 0 where the weights decide nothing."""
    return fall_of_right_answers(text, torch.full_like(text.weights, 1 / len(text))[None])
