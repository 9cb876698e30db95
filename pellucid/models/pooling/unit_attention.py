"""What poolers that attend to units share: the units of a text, and their weighted sum."""

from typing import Literal, get_args

import torch
from torch import Tensor

from pellucid.core.foundation.checks import one_of
from pellucid.core.passes.trace import UnitTrace
from pellucid.models.pooling.piece_tensors import PieceTensors
from pellucid.models.pooling.pooled import Pooled
from pellucid.models.pooling.unit_vectors import merge_parts

Weights = Literal["learned", "uniform"]


def check_units(unit: str, weights: str) -> None:
    """Raise `BadSetting` for a unit other than word and piece, and for weights other than learned and uniform."""
    one_of("unit", unit, ("word", "piece"))
    one_of("weights", weights, get_args(Weights))


def units_of(states: Tensor, pieces: PieceTensors, unit: str) -> tuple[Tensor, Tensor]:
    """[batch piece width] -> the units' states [batch unit width] and the number of each unit's text, -1 in padding.

    Special tokens and absent pieces are in no unit, so they have no weight (corrections.md A4.3).
    """
    return merge_parts(states, pieces.word_index, pieces.segments, unit)


def weighted_sum(states: Tensor, runs: Tensor, scores: Tensor, unit: str) -> Pooled:
    """Units' states [batch unit width] and scores [batch unit] -> the sum of alpha h, alpha the softmax of scores.

    In torch's own functions, one at a time, so that the rules of relevance meet each of them. A text without any unit pools
    to zero.
    """
    missing = runs < 0
    lowest = scores.masked_fill(missing, torch.finfo(scores.dtype).min)
    weights = torch.softmax(lowest, -1).masked_fill(missing, 0.0)
    vector = torch.matmul(weights[:, None], states)[:, 0]
    return Pooled(
        vector=vector, units=UnitTrace(scores.masked_fill(missing, float("-inf")), states, runs, unit)
    )
