"""Given weights: how many right answers are lost under weights that the user gives.

Wiegreffe & Pinter (2019), "Attention is not not Explanation", section 3.4, put the weights of one model into another.
"""

import torch
from torch import Tensor

from pellucid.core.foundation.kinds import attention_tests
from pellucid.evaluation.shared.weighed_texts import WeighedText, fall_of_right_answers


@attention_tests.add(
    better="higher",
    lowest=-1.0,
    highest=1.0,
    needs="user_weights",
    idle=0.0,
    meaning="The share of right answers that is lost under the weights that you gave.",
)
def user_weights(text: WeighedText) -> Tensor:
    """[1]: right with the model's own weights less right with the given ones; nan of a text without any."""
    if text.user_weights is None:
        return torch.full((1,), torch.nan, dtype=torch.float64)
    return fall_of_right_answers(text, text.user_weights[None])
