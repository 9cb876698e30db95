"""Maximum: each entry of the text's vector is the largest that any of its pieces has.

Collobert et al. (2011), "Natural Language Processing (Almost) from Scratch", section 3.3; Kim (2014) pools filters so. The
plain twin of self-explaining models on a BiLSTM or a CNN, whose first piece has not read the text as a transformer's has.
"""

from torch import Tensor, nn

from pellucid.core.foundation.kinds import poolers
from pellucid.models.pooling.pooled import Pooled


@poolers.add(explains=False)
class maximum(nn.Module):  # noqa: N801 - registered under the name users type
    """The largest entries of all real pieces, special tokens included."""

    def __init__(self, width: int) -> None:
        super().__init__()

    def forward(self, states: Tensor, attention_mask: Tensor, words: Tensor, segments: Tensor) -> Pooled:
        """[batch piece width] -> [batch width]."""
        hidden = ~attention_mask.bool()[..., None]
        return Pooled(states.masked_fill(hidden, float("-inf")).amax(1))
