"""First token: the text's vector is the first piece's state, as fine-tuned encoders have it.

The plain twin of every self-explaining model.
"""

from torch import Tensor

from pellucid.core.foundation.kinds import poolers
from pellucid.models.pooling.piece_tensors import PieceTensors
from pellucid.models.pooling.pooled import Pooled
from pellucid.models.pooling.pooler import Pooler


@poolers.add("first_token", explains=False, alone=True, linear=True)
class FirstTokenPooler(Pooler):
    """The state of the first piece ([CLS], <s>)."""

    def __init__(self, width: int) -> None:
        super().__init__()

    def forward(self, states: Tensor, pieces: PieceTensors) -> Pooled:
        """[batch piece width] -> [batch width]."""
        return Pooled(vector=states[:, 0])
