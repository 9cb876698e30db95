"""Maximum: each entry of the text's vector is the largest that any of its pieces has.

Collobert et al. (2011), "Natural Language Processing (Almost) from Scratch", section 3.3; Kim (2014) pools filters so. The
plain twin of self-explaining models on a BiLSTM or a CNN, whose first piece has not read the text as a transformer's has.
"""

from torch import Tensor

from pellucid.core.foundation.kinds import poolers
from pellucid.models.pooling.piece_tensors import PieceTensors
from pellucid.models.pooling.pooled import Pooled
from pellucid.models.pooling.pooler import Pooler


@poolers.add("maximum", explains=False, linear=True)
class MaximumPooler(Pooler):
    """The largest entries of all real pieces, special tokens included."""

    def __init__(self, width: int) -> None:
        super().__init__()

    def forward(self, states: Tensor, pieces: PieceTensors) -> Pooled:
        """[batch piece width] -> [batch width]."""
        padding = ~pieces.attention_mask.bool()[..., None]
        return Pooled(vector=states.masked_fill(padding, float("-inf")).amax(1))
