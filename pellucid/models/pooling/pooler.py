"""What every pooler is: a module from piece states to one vector a text, and what the network must know of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from torch import Tensor, nn

from pellucid.run.trace import GateTrace, SpanTrace, UnitTrace

# What a pooler returns: one vector a text and, if it explains itself, its own weights.


@dataclass(frozen=True, kw_only=True)
class OwnWeights:
    """The weights of a self-explaining pooler; None where it has no such weights.

    A new kind of weights is a field here and in `core.passes.trace.Trace`; the code between them passes all fields on.
    """

    spans: SpanTrace | None = None
    gates: GateTrace | None = None
    units: UnitTrace | None = None

    @property
    def weights(self) -> SpanTrace | UnitTrace | None:
        """Those weights that sum to 1, of spans or of units."""
        return self.units if self.spans is None else self.spans

    @property
    def own_weights(self) -> dict[str, Any]:  # Any: to be handed on as keyword arguments
        """The fields of this class by name, also of a class with more."""
        return {each.name: getattr(self, each.name) for each in fields(OwnWeights)}


@dataclass(frozen=True, kw_only=True)
class Pooled(OwnWeights):
    """vector: [batch width]."""

    vector: Tensor


# What a composed network reads about every piece of its rows: one frozen record of tensors.


@dataclass(frozen=True, eq=False)
class PieceTensors:
    """Tensors [batch piece] of whole numbers, padded on the right; position i of each is about the same piece.

    input_ids: the tokenizer's ids. attention_mask: 1 for pieces that are read, 0 for padding and absent pieces.
    position_ids: the ids of the encoder's position table. word_index: the number of each piece's word. segments: the number
    of its text, 0 or 1. Both are -1 for special tokens and padding. token_type_ids: for encoders that know them, else None.
    sentences, content: the number of each piece's sentence, and 1 where its word is a content word; None where the pooler
    does not read them.
    """

    input_ids: Tensor
    attention_mask: Tensor
    position_ids: Tensor
    word_index: Tensor
    segments: Tensor
    token_type_ids: Tensor | None = None
    sentences: Tensor | None = None
    content: Tensor | None = None

    def window(self, pieces: Sequence[int]) -> "PieceTensors":
        """These pieces of every row alone; their positions count from the first one on."""
        columns = {name: column[:, list(pieces)] for name, column in self.columns().items()}
        return piece_tensors(columns | {"position_ids": self.position_ids[:, : len(pieces)]})

    def columns(self) -> dict[str, Tensor]:
        """The tensors that there are, by field."""
        columns = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: column for name, column in columns.items() if column is not None}

    def of_encoder(self) -> dict[str, Tensor]:
        """What every encoder takes, by the names of its parameters; token types are left out."""
        return {name: getattr(self, name) for name in ("input_ids", "attention_mask", "position_ids")}


def piece_tensors(columns: Mapping[str, Tensor]) -> PieceTensors:
    """The record of those columns that it has a field for."""
    return PieceTensors(
        **{each.name: columns[each.name] for each in fields(PieceTensors) if each.name in columns}
    )


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
