"""Mean: the text's vector is the average of its pieces' states, special tokens included.

As sentence-transformers' encoders are pretrained.
"""

import torch
from torch import Tensor, nn

from pellucid.core.foundation.kinds import poolers
from pellucid.models.pooling.pooled import Pooled


@poolers.add(explains=False)
class mean(nn.Module):  # noqa: N801 - registered under the name users type
    """The mean state of all real pieces."""

    def __init__(self, width: int) -> None:
        super().__init__()

    def forward(self, states: Tensor, attention_mask: Tensor, words: Tensor, segments: Tensor) -> Pooled:
        """[batch piece width] -> [batch width]."""
        states = states if states.dtype == torch.float64 else states.float()  # a sum over many pieces
        real = attention_mask[..., None].to(states.dtype)
        return Pooled((states * real).sum(1) / real.sum(1))
