"""Conicity: a price on states that all point the same way, since weights on equal states say nothing.

Mohankumar et al. (2020), "Towards Transparent and Explainable Attention Models", equations 4 and 5.
"""

from torch import Tensor
from torch.nn import functional as F

from pellucid.core.foundation.kinds import penalties
from pellucid.core.passes.precision import widened
from pellucid.core.passes.trace import StateTrace


@penalties.add(reads="states")
def conicity(states: StateTrace) -> Tensor:
    """[example]: the mean cosine of a text's states with their mean, -1 to 1; 1 where all point one way."""
    values = widened(states.states)
    return states.mean(F.cosine_similarity(values, states.mean(values)[:, None], dim=-1))
