"""Language models, such as GPT-2, Llama and Qwen: one decoder reads the prompt and goes on writing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from pellucid.base.lazy_attributes import cached_property
from pellucid.models.classifiers.tokens import Tokenizer
from pellucid.models.families.probes import most_pieces
from pellucid.models.writing.tokenizing import (
    Piece,
    check_length,
    encoded_source,
    first_after,
    joined,
    pieces_of,
    row_of,
    two_texts,
)
from pellucid.models.writing.tracks import WRITTEN, Reading, Track, track
from pellucid.run.batch import Row
from pellucid.text.example import Example
from pellucid.text.units import SPECIAL, Units, trimmed


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """A causal network of the library and its fast tokenizer. name: what messages call it.

    Prompt and continuation are tokenised as one text, as a user would. The first place of a row is always read: where its piece
    is taken out, the token that begins or ends texts stands there.
    """

    network: Any  # an nn.Module; Any because its configuration and parts differ by family
    tokenizer: Tokenizer
    name: str

    @cached_property
    def embeddings(self) -> tuple[nn.Module, ...]:
        """The decoder's."""
        return (self.network.get_input_embeddings(),)

    @cached_property
    def beginning(self) -> int | None:
        """The token that begins texts, or else ends them; None where there is neither."""
        return self._first_of("bos_token_id", "eos_token_id")

    @cached_property
    def _blank(self) -> int:
        """The token that begins texts, or else ends or fills them."""
        blank = self._first_of("bos_token_id", "eos_token_id", "pad_token_id", "unk_token_id")
        return 0 if blank is None else blank

    def _first_of(self, *names: str) -> int | None:
        ids = (getattr(self.tokenizer, name, None) for name in names)
        return next((id for id in ids if id is not None), None)

    def encode(self, example: Example) -> tuple[Row, Units]:
        """Prompt and continuation. Raises `BadInput` for one text, one that is too long, or a piece of both."""
        pieces = self._pieces(example)
        most = most_pieces(self.network.config)
        check_length(len(pieces), most, "the text with its continuation", example, self.name)
        return row_of(pieces, example)

    def excess(self, example: Example) -> int:
        """How many places more than the model has its row would take where it writes; 0 or less where it fits."""
        most = most_pieces(self.network.config)
        return 0 if most is None else len(self._pieces(example)) - most

    def _pieces(self, example: Example) -> list[Piece]:
        prompt, continuation = two_texts(example, self.name)
        text, start = joined(example, prompt, continuation)
        encoded = encoded_source(self.tokenizer, text)
        first = first_after(encoded, text, start, example)
        pieces = [
            _in_its_text(piece, number >= first, text, start)
            for number, piece in enumerate(pieces_of(self.tokenizer, encoded, text, 0))
        ]
        while pieces and pieces[-1].segment == SPECIAL:  # nothing that is explained comes after the text
            pieces.pop()
        if first == 0:  # something must be read before the first piece is written
            pieces.insert(
                0, Piece(self._blank, self.tokenizer.convert_ids_to_tokens([self._blank])[0], SPECIAL)
            )
        return pieces

    def tracks(self, rows: Sequence[Row], device: torch.device) -> tuple[Track, ...]:
        """One for all pieces."""
        return (track(rows, self._places, self._blank, self.place_of, device),)

    def _places(self, row: Row) -> list[tuple[int, int]]:
        """The prompt's pieces at their positions, the written ones after all places of the prompt."""
        return [
            (self.place_of(row, row.own_numbers[piece]) if type == WRITTEN else row.positions[piece], piece)
            for piece, type in enumerate(row.types)
        ]

    def place_of(self, row: Row, piece: int) -> int:
        """Written pieces begin where the prompt ends; a prompt whose gaps were closed is shorter."""
        first = next(number for number, id in enumerate(row.written) if id >= 0)
        left = sum(type != WRITTEN for type in row.types)
        return piece - first + (max(left, 1) if row.numbers else first)

    def logits(self, tracks: Sequence[Track], reading: Reading) -> Tensor:
        """[row place id]"""
        (texts,) = tracks
        with reading(0):
            return self.network(
                input_ids=texts.ids, attention_mask=texts.attended, use_cache=False, return_dict=True
            ).logits

    def plain_logits(self, example: Example, device: torch.device) -> Tensor:
        """[place id]: prompt and continuation as one text, as a user gives it."""
        text, start = joined(example, *two_texts(example, self.name))
        encoded = encoded_source(self.tokenizer, text)
        begin = [] if first_after(encoded, text, start, example) else [self._blank]
        ids = torch.tensor([[*begin, *encoded["input_ids"]]], device=device)
        read = torch.ones_like(ids)  # the token that begins texts may be the one that fills them, too
        return self.network(input_ids=ids, attention_mask=read, use_cache=False, return_dict=True).logits[0]


def _in_its_text(piece: Piece, is_written: bool, text: str, start: int) -> Piece:
    """The piece with its characters in the prompt, or in the continuation, which begins at a character of the joined text."""
    if piece.segment == SPECIAL or not is_written:
        return piece
    first, last = trimmed(text, max(piece.start, start), max(piece.end, start))
    return replace(piece, segment=1, start=first - start, end=last - start, type=WRITTEN, written=piece.id)
