"""Divergence from uniform: what the paper calls "viewed as KL", with the sign it must have.

KL(alpha || uniform) = log spans - entropy (corrections.md A0.3); minimising its negative sharpens.
"""

from torch import Tensor

from pellucid.core.foundation.kinds import penalties
from pellucid.core.passes.trace import SpanTrace


@penalties.add(reads="spans")
def divergence(spans: SpanTrace) -> Tensor:
    """[example]: -KL(alpha || uniform) in nats, from -log spans (one span) to 0 (uniform)."""
    count = (~spans.scores.isinf()).sum((1, 2)).clamp_min(1)
    return spans.entropy - count.to(spans.entropy.dtype).log()
