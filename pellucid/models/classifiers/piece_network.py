"""What a network must offer that reads a record of piece tensors; networks of Hugging Face read columns by name instead."""

from typing import Protocol, runtime_checkable

from pellucid.core.passes.trace import GateTrace
from pellucid.models.classifiers.output import Output
from pellucid.models.families.encoder import EncoderConfiguration
from pellucid.models.pooling.piece_tensors import PieceTensors


@runtime_checkable
class PieceNetwork(Protocol):
    """A composed network, as a `Classifier` sees it; a module whose forward takes `PieceTensors`.

    config: its encoder's. max_length: the most pieces of a text that it reads as one; None: what its encoder reads.
    reads_sentences, reads_content: whether it reads these fields of the record. pooler_settings: what its answers depend on
    besides weights and configuration, as JSON.
    """

    config: EncoderConfiguration
    max_length: int | None
    reads_sentences: bool
    reads_content: bool
    pooler_settings: dict[str, object]

    def choose(self, pieces: PieceTensors) -> GateTrace | None:
        """Of a network that reads twice, what it chooses by its first reading; None for one that reads once."""
        ...

    def forward(self, pieces: PieceTensors, gates: GateTrace | None = None) -> Output:
        """[batch piece] -> logits and own weights; gates: what `choose` returned."""
        ...
