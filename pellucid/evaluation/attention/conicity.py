"""Conicity: how alike the states of a text are that the weights choose among.

Mohankumar et al. (2020), "Towards Transparent and Explainable Attention Models", section 3.1: the mean cosine of the states to
their mean.
"""

import torch
from torch import Tensor

from pellucid.core.foundation.kinds import attention_tests
from pellucid.evaluation.shared.weighed_texts import WeighedText


@attention_tests.add(
    better="lower",
    lowest=-1.0,
    highest=1.0,
    meaning="How alike the states of a text are that the weights choose among: at 1 they all point one way, and no choice matters.",
)
def conicity(text: WeighedText) -> Tensor:
    """[1]: the mean cosine of the units' states to their mean; nan of a text without states."""
    if text.states is None:
        return torch.full((1,), torch.nan, dtype=torch.float64)
    states = text.states.double()
    mean = states.mean(0, keepdim=True)
    return torch.nn.functional.cosine_similarity(states, mean, dim=-1).mean().clamp(-1, 1)[None]
