"""Divergence from uniform: what the paper calls "viewed as KL", with the sign it must have.

KL(alpha || uniform) = log spans - entropy (corrections.md A0.3); minimising its negative sharpens.
"""

from torch import Tensor

from pellucid.core.foundation.kinds import penalties
from pellucid.core.passes.trace import SpanTrace, UnitTrace


@penalties.add(reads="weights")
def divergence(weights: SpanTrace | UnitTrace) -> Tensor:
    """[example]: -KL(alpha || uniform) in nats, from -log of the count (one span or unit) to 0 (uniform)."""
    count = (~weights.scores.isinf()).flatten(1).sum(1).clamp_min(1)
    return weights.entropy - count.to(weights.entropy.dtype).log()
