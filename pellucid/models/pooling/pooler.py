"""What every pooler is: a module from piece states to one vector a text, and what the network must know of it."""

from torch import Tensor, nn

from pellucid.models.pooling.piece_tensors import PieceTensors
from pellucid.models.pooling.pooled import Pooled


class Pooler(nn.Module):
    """The base of every pooler; one that needs more than the usual sets these attributes in `__init__`.

    pooled_width: of its vector; None: as wide as the encoder's states. reads_sentences, reads_content: whether it reads
    `PieceTensors.sentences` and `.content`. most_units: the most units of a text that it can read; None: any number. layer: how many
    of the encoder's blocks are used; None: all. layer_mix: whether it reads a learnt mean of the states of all layers.
    """

    pooled_width: int | None = None
    reads_sentences: bool = False
    reads_content: bool = False
    most_units: int | None = None
    layer: int | None = None
    layer_mix: bool = False

    def forward(self, states: Tensor, pieces: PieceTensors) -> Pooled:
        """[batch piece width] -> [batch pooled_width]; padding and neighbours in the batch must change nothing."""
        raise NotImplementedError
