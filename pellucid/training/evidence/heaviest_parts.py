"""What each unit of a text weighs by a model's own weights, and the heaviest ones, as many as a share of the text."""

from collections.abc import Sequence

from torch import Tensor
from torch.nn import functional as F

from pellucid.core.passes.trace import SpanTrace, UnitTrace


def part_weights(trace: SpanTrace | UnitTrace) -> Tensor:
    """[example part]: the weight of a unit, or of all spans that it lies in; 0 to 1, with the trace's gradients."""
    weights = trace.weights
    if isinstance(trace, UnitTrace):
        return weights
    begun, ended = weights.sum(2).cumsum(1), weights.sum(1).cumsum(1)
    return (begun - F.pad(ended, (1, 0))[:, :-1]).clamp(0, 1)  # a difference of sums may end a little outside


def heaviest_parts(weights: Sequence[float], shares: Sequence[float]) -> list[frozenset[int]]:
    """For each share of a text the numbers of its heaviest parts, one or more; of equal ones the first.

    weights: of all parts of the text.
    """
    order = sorted(range(len(weights)), key=lambda part: (-weights[part], part))
    return [frozenset(order[: max(1, round(share * len(weights)))]) for share in shares]
