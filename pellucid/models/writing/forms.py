"""The two forms of models that write: encoder–decoders and language models."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from pellucid.base.errors import ModelCannot
from pellucid.base.packages import cached_property
from pellucid.models.classifiers.tokens import Tokenizer
from pellucid.models.families.probes import most_pieces, parameter_names
from pellucid.models.writing.chat import chat_pieces, prompt_ids
from pellucid.models.writing.tokenizing import (
    Piece,
    check_length,
    encoded_prompt,
    encoded_source,
    encoded_target,
    first_after,
    joined,
    pieces_of,
    row_of,
    two_texts,
)
from pellucid.models.writing.tracks import NO_PIECE, WRITTEN, Reading, Track, track
from pellucid.run.batch import Row
from pellucid.text.example import Example
from pellucid.text.passages import turns_of
from pellucid.text.units import SPECIAL, Units, trimmed


@dataclass(frozen=True, eq=False)
class EncoderDecoder:
    """A network of the library with both parts, and its fast tokenizer. name: what messages call it.

    A row has the source's pieces, the token that the decoder begins with, and the target's pieces; those after the last
    piece of text are left away, since nothing that is explained comes after them.
    """

    network: Any  # an nn.Module; Any because its configuration and parts differ by family
    tokenizer: Tokenizer
    name: str

    @cached_property
    def embeddings(self) -> tuple[nn.Module, ...]:
        """Those of the encoder and of the decoder; they may be one module."""
        return (self._embedding(self.network.get_encoder()), self._embedding(self.network.get_decoder()))

    def _embedding(self, part: Any) -> nn.Module:  # Any: the encoder or decoder of some family
        try:
            module = part.get_input_embeddings()
        except (AttributeError, NotImplementedError):  # FSMT's parts do not say
            module = getattr(part, "embed_tokens", None)
        if not isinstance(module, nn.Module):
            raise ModelCannot(f"{self.name} does not show what turns ids into word embeddings.")
        return module

    def encode(self, example: Example) -> tuple[Row, Units]:
        """Source, the decoder's first token, target. Raises `BadInput` for one text, or for one that is too long."""
        source, target = two_texts(example, self.name)
        read = pieces_of(self.tokenizer, encoded_source(self.tokenizer, source), source, 0)
        labels = self._labels(target)
        pieces = [*read, self._first(target), *labels]
        most = most_pieces(self.network.config)
        check_length(len(read), most, "the source", example, self.name)
        check_length(1 + len(labels), most, "the target", example, self.name)
        return row_of(self.tokenizer, pieces, example)

    def excess(self, example: Example) -> int:
        """How many places more than the model has its row would take where it writes; 0 or less where it fits."""
        most = most_pieces(self.network.config)
        return 0 if most is None else 1 + len(self._labels(example.segments[1])) - most

    def _labels(self, target: str) -> list[Piece]:
        """The target's pieces up to the last one of text, each with the id that is to be written."""
        pieces = pieces_of(self.tokenizer, encoded_target(self.tokenizer, target), target, 1, WRITTEN)
        count = max((index + 1 for index, piece in enumerate(pieces) if piece.segment != SPECIAL), default=0)
        return [piece if piece.segment == SPECIAL else replace(piece, written=piece.id) for piece in pieces[:count]]

    def _first(self, target: str) -> Piece:
        """What the decoder reads before anything is written, as the library puts it there.

        Some families begin with the target's last piece, which is its language or its end.
        """
        inputs = self._inputs_for(torch.tensor([encoded_target(self.tokenizer, target)["input_ids"] or [0]]))
        first = self.network.config.decoder_start_token_id if inputs is None else int(inputs[0, 0])
        return Piece(first, self.tokenizer.convert_ids_to_tokens([first])[0], SPECIAL, type=WRITTEN)

    def _inputs_for(self, labels: Tensor) -> Tensor | None:
        """[row place]: what the decoder reads to write these labels; None where the network does not say."""
        prepare = getattr(self.network, "prepare_decoder_input_ids_from_labels", None)
        return None if prepare is None else prepare(labels=labels)

    def start(self) -> list[int]:
        """The pieces that the decoder reads before the first one of text: its first token, and a code of a language."""
        trial = self._labels("a")
        text = next((index for index, piece in enumerate(trial) if piece.segment != SPECIAL), 0)
        return [self._first("a").id, *(piece.id for piece in trial[:text])]

    def tracks(self, rows: Sequence[Row], device: torch.device) -> tuple[Track, ...]:
        """The encoder's and the decoder's."""
        pad = self.network.config.pad_token_id or 0
        return (
            track(rows, _source_places, pad, device),
            track(rows, self.places, pad, device),
        )

    def places(self, row: Row) -> list[tuple[int, int]]:
        """Counted from the decoder's first token, which is never taken out."""
        first = row.positions[row.types.index(WRITTEN)]
        return [(row.positions[piece] - first, piece) for piece, type in enumerate(row.types) if type == WRITTEN]

    def logits(self, tracks: Sequence[Track], reading: Reading) -> Tensor:
        """[row place id] of the decoder."""
        source, target = tracks
        with reading(0):
            states = self.network.get_encoder()(input_ids=source.ids, attention_mask=source.attended, return_dict=True)
        with reading(1):
            return self.network(
                encoder_outputs=states,
                attention_mask=source.attended,
                decoder_input_ids=target.ids,
                decoder_attention_mask=target.attended,
                use_cache=False,
                return_dict=True,
            ).logits

    def plain_logits(self, example: Example, device: torch.device, first: int) -> Tensor:
        """[place id]: source and forced target, as a user gives them; from place `first` on."""
        source, target = two_texts(example, self.name)
        read = torch.tensor([encoded_source(self.tokenizer, source)["input_ids"]], device=device)
        labels = torch.tensor([encoded_target(self.tokenizer, target)["input_ids"]], device=device)
        inputs = self._inputs_for(labels)  # FSMT does not do it by itself
        return self.network(input_ids=read, decoder_input_ids=inputs, labels=labels, return_dict=True).logits[0, first:]


def _source_places(row: Row) -> list[tuple[int, int]]:
    """Each piece at its position; gaps stay. Of a source without any piece the padding token is read."""
    return [(row.positions[piece], piece) for piece, type in enumerate(row.types) if type != WRITTEN]


# Language models, such as GPT-2, Llama and Qwen: one decoder reads the prompt and goes on writing.


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """A causal network of the library and its fast tokenizer. name: what messages call it.

    Prompt and continuation are tokenised as one text, as a user would. Where nothing of the prompt is left, the token
    that begins or ends texts is read in its place, as for an empty prompt.
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
        return row_of(self.tokenizer, pieces, example)

    def excess(self, example: Example) -> int:
        """How many places more than the model has its row would take where it writes; 0 or less where it fits."""
        most = most_pieces(self.network.config)
        return 0 if most is None else len(self._pieces(example)) - most

    def _pieces(self, example: Example) -> list[Piece]:
        prompt, continuation = two_texts(example, self.name)
        if turns_of(example):
            return chat_pieces(self.tokenizer, example)
        text, start = joined(example, prompt, continuation)
        encoded = encoded_prompt(self.tokenizer, text)
        first = first_after(encoded, text, start, example)
        pieces = [
            _in_its_text(piece, index >= first, text, start)
            for index, piece in enumerate(pieces_of(self.tokenizer, encoded, text, 0))
        ]
        if pieces[0].id == self.tokenizer.bos_token_id:  # where the text begins with it, too
            pieces[0] = Piece(pieces[0].id, pieces[0].label, SPECIAL)
        while pieces and pieces[-1].segment == SPECIAL:  # nothing that is explained comes after the text
            pieces.pop()
        if first == 0:  # something must be read before the first piece is written
            pieces.insert(0, Piece(self._blank, self.tokenizer.convert_ids_to_tokens([self._blank])[0], SPECIAL))
        return pieces

    def tracks(self, rows: Sequence[Row], device: torch.device) -> tuple[Track, ...]:
        """One for all pieces."""
        return (track(rows, self.places, self._blank, device),)

    def places(self, row: Row) -> list[tuple[int, int]]:
        """Each piece at its position; before those that are written something is always read."""
        pieces = [(position, piece) for piece, position in enumerate(row.positions)]
        if row.types and row.types[0] != WRITTEN:
            return pieces
        shift = int(row.positions[:1] == (0,))  # the gap that the prompt left was closed
        return [(0, NO_PIECE), *((place + shift, piece) for place, piece in pieces)]

    def logits(self, tracks: Sequence[Track], reading: Reading) -> Tensor:
        """[row place id]"""
        (texts,) = tracks
        with reading(0):
            return self.network(
                input_ids=texts.ids, attention_mask=texts.attended, use_cache=False, return_dict=True
            ).logits

    def plain_logits(self, example: Example, device: torch.device, first: int) -> Tensor:
        """[place id]: prompt and continuation as one text, as a user gives it; from place `first` on."""
        ids = torch.tensor([self._plain_ids(example)], device=device)
        last = ids.shape[1] - first  # logits of all places, 32,000 numbers each, would be more than all else
        fewer = {"logits_to_keep": last} if "logits_to_keep" in parameter_names(self.network) else {}
        read = torch.ones_like(ids)  # the token that begins texts may be the one that fills them, too
        output = self.network(input_ids=ids, attention_mask=read, use_cache=False, return_dict=True, **fewer)
        return output.logits[0, -last:]

    def _plain_ids(self, example: Example) -> list[int]:
        prompt, continuation = two_texts(example, self.name)
        if turns_of(example):
            return prompt_ids(self.tokenizer, prompt) + prompt_ids(self.tokenizer, continuation)
        text, start = joined(example, prompt, continuation)
        encoded = encoded_prompt(self.tokenizer, text)
        begin = [] if first_after(encoded, text, start, example) else [self._blank]
        return [*begin, *encoded["input_ids"]]


def _in_its_text(piece: Piece, is_written: bool, text: str, start: int) -> Piece:
    """The piece with its characters in the prompt, or in the continuation, which begins at a character of the joined
    text.
    """
    if piece.segment == SPECIAL or not is_written:
        return piece
    first, last = trimmed(text, max(piece.start, start), max(piece.end, start))
    return replace(piece, segment=1, start=first - start, end=last - start, type=WRITTEN, written=piece.id)
