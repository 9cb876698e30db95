"""Poolers without weights: the first piece's vector, the mean, the maximum."""

import torch
from torch import Tensor

from pellucid.base.kinds import poolers
from pellucid.models.pooling.pooler import PieceTensors, Pooled, Pooler


@poolers.add("first_token", explains=False, alone=True, linear=True)
class FirstTokenPooler(Pooler):
    """The state of the first piece ([CLS], <s>).

    The text's vector is the first piece's state, as fine-tuned encoders have it.

    Source: The plain twin of every self-explaining model.
    """

    def __init__(self, width: int) -> None:
        super().__init__()

    def forward(self, states: Tensor, pieces: PieceTensors) -> Pooled:
        """[batch piece width] -> [batch width]."""
        return Pooled(vector=states[:, 0])


@poolers.add("mean", explains=False, linear=True)
class MeanPooler(Pooler):
    """The mean state of all real pieces.

    The text's vector is the average of its pieces' states, special tokens included.

    Source: As sentence-transformers' encoders are pretrained.
    """

    def __init__(self, width: int) -> None:
        super().__init__()

    def forward(self, states: Tensor, pieces: PieceTensors) -> Pooled:
        """[batch piece width] -> [batch width]."""
        states = states if states.dtype == torch.float64 else states.float()  # a sum over many pieces
        real = pieces.attention_mask[..., None].to(states.dtype)
        return Pooled(vector=(states * real).sum(1) / real.sum(1))


@poolers.add("maximum", explains=False, linear=True)
class MaximumPooler(Pooler):
    """The largest entries of all real pieces, special tokens included.

    Each entry of the text's vector is the largest that any of its pieces has.

    Source: Collobert et al. (2011), "Natural Language Processing (Almost) from Scratch", section 3.3;
    Kim (2014) pools filters so. The plain twin of self-explaining models on a BiLSTM or a CNN, whose
    first piece has not read the text as a transformer's has.
    """

    def __init__(self, width: int) -> None:
        super().__init__()

    def forward(self, states: Tensor, pieces: PieceTensors) -> Pooled:
        """[batch piece width] -> [batch width]."""
        padding = ~pieces.attention_mask.bool()[..., None]
        return Pooled(vector=states.masked_fill(padding, float("-inf")).amax(1))
