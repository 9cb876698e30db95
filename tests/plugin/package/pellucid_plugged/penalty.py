"""Plugged peak: a reward for the largest weight.

Doe (2030), "On Peaks".
"""

from torch import Tensor

from pellucid.base.kinds import penalties
from pellucid.run.trace import SpanTrace


@penalties.add(reads="spans")
def plugged_peak(spans: SpanTrace) -> Tensor:
    """[example]: minus the largest weight, from -1 (one span) to -1/spans (uniform); less is sharper."""
    return -spans.weights.amax((1, 2))
