"""Concentration: reward weights that gather on few spans or units.

Sun et al. (2020), equation 7. The paper maximises log p + lambda sum alpha squared; minimised it is
cross-entropy - lambda sum alpha squared (corrections.md A0.2), so a larger weight means sharper.
"""

from torch import Tensor

from pellucid.core.foundation.kinds import penalties
from pellucid.core.passes.trace import SpanTrace, UnitTrace


@penalties.add(reads="weights")
def concentration(weights: SpanTrace | UnitTrace) -> Tensor:
    """[example]: -sum of alpha squared, from -1 (one span or unit) to -1/count (uniform); less is sharper."""
    return -weights.concentration
