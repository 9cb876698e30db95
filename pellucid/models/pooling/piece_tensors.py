"""What a composed network reads about every piece of its rows: one frozen record of tensors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from torch import Tensor


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
