"""Entropy: the other way to ask for sharp weights.

Sun et al. (2020), footnote 2; added to the loss, since less entropy is sharper (corrections.md A0.3).
"""

from torch import Tensor

from pellucid.core.foundation.kinds import penalties
from pellucid.core.passes.trace import SpanTrace, UnitTrace


@penalties.add(reads="weights")
def entropy(weights: SpanTrace | UnitTrace) -> Tensor:
    """[example]: -sum alpha log alpha in nats, from 0 (one span or unit) to log of their count (uniform)."""
    return weights.entropy
