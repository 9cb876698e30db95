"""Mean: the text's vector is the average of its pieces' states, special tokens included.

As sentence-transformers' encoders are pretrained.
"""

import torch
from torch import Tensor

from pellucid.core.foundation.kinds import poolers
from pellucid.models.pooling.piece_tensors import PieceTensors
from pellucid.models.pooling.pooled import Pooled
from pellucid.models.pooling.pooler import Pooler


@poolers.add("mean", explains=False, linear=True)
class MeanPooler(Pooler):
    """The mean state of all real pieces."""

    def __init__(self, width: int) -> None:
        super().__init__()

    def forward(self, states: Tensor, pieces: PieceTensors) -> Pooled:
        """[batch piece width] -> [batch width]."""
        states = states if states.dtype == torch.float64 else states.float()  # a sum over many pieces
        real = pieces.attention_mask[..., None].to(states.dtype)
        return Pooled(vector=(states * real).sum(1) / real.sum(1))
