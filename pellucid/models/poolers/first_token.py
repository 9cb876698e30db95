"""First token: the text's vector is the first piece's state, as fine-tuned encoders have it.

The plain twin of every self-explaining model.
"""

from torch import Tensor, nn

from pellucid.core.foundation.kinds import poolers
from pellucid.models.pooling.pooled import Pooled


@poolers.add(explains=False, alone=True)
class first_token(nn.Module):  # noqa: N801 - registered under the name users type
    """The state of the first piece ([CLS], <s>)."""

    def __init__(self, width: int) -> None:
        super().__init__()

    def forward(self, states: Tensor, attention_mask: Tensor, words: Tensor, segments: Tensor) -> Pooled:
        """[batch piece width] -> [batch width]."""
        return Pooled(states[:, 0])
