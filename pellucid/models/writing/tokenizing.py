"""How sources, targets and continuations are tokenised: exactly as the tokenizer would, with offsets."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any

import torch
from torch import Tensor, nn

from pellucid.base.checks import quoted
from pellucid.base.errors import BadInput
from pellucid.models.classifiers.hooks import at_places
from pellucid.models.classifiers.readable import piece_readings
from pellucid.models.classifiers.tokens import TokenizedText, Tokenizer, tokenized
from pellucid.models.translation.source_spans import SpanReading
from pellucid.models.translation.translator_folder import source_spans_of
from pellucid.run.batch import Row
from pellucid.run.module_hooks import hook_output, is_watched
from pellucid.run.trace import HeadProduct, WrittenSpans
from pellucid.text.example import Example
from pellucid.text.units import SPECIAL, Units, coarse_index, trimmed

SETTINGS: dict[str, Any] = {"truncation": False, "padding": False, "return_offsets_mapping": True}


_ONE_AT_A_TIME = Lock()  # tokenizers of many languages are switched to the target's and back


def encoded_source(tokenizer: Tokenizer, text: str) -> TokenizedText:
    """A text that is read."""
    with _ONE_AT_A_TIME:
        return tokenized(tokenizer, (text,), **SETTINGS)


def encoded_prompt(tokenizer: Tokenizer, text: str) -> TokenizedText:
    """A text that a language model reads. One that begins with the token that begins texts gets no second one."""
    encoded, begin = encoded_source(tokenizer, text), tokenizer.bos_token_id
    if begin is not None and list(encoded["input_ids"][:2]) == [begin, begin]:
        return tokenized(tokenizer, (text,), add_special_tokens=False, **SETTINGS)
    return encoded


def encoded_target(tokenizer: Tokenizer, text: str) -> TokenizedText:
    """A text that is written: some tokenizers put other special tokens around it."""
    with _ONE_AT_A_TIME:
        return tokenized(tokenizer, (), text_target=text, **SETTINGS)


def joined(example: Example, prompt: str, continuation: str) -> tuple[str, int]:
    """The text of a prompt and its continuation, and where the continuation begins.

    A blank is put between them where the prompt does not end with one, nor the continuation begin with one.
    """
    between = "" if not prompt or prompt[-1].isspace() or continuation[0].isspace() else " "
    return prompt + between + continuation, len(prompt) + len(between)


def first_after(encoded: TokenizedText, text: str, start: int, example: Example) -> int:
    """The number of the first piece of the continuation, which begins at a character; raises `BadInput` for a piece of
    both.
    """
    for index, (segment, (first, last)) in enumerate(
        zip(encoded.sequence_ids(0), encoded["offset_mapping"], strict=True)
    ):
        if segment is None or last <= start:
            continue
        if first < start and text[first:start].strip():
            raise BadInput(
                f"Example {quoted(example.id)}: the tokenizer makes one piece of the prompt's end and the "
                f"continuation's beginning, {quoted(text[first:last])}; end the prompt between words."
            )
        return index
    raise BadInput(f"Example {quoted(example.id)}: the tokenizer leaves nothing of the continuation.")


# The pieces of a text as a tokenizer makes them, with their places in the original characters.

NOTHING = -1  # the id that is to be written where nothing is


@dataclass(frozen=True)
class Piece:
    """One piece: id, what is shown of it, its segment (-1 for a special token), its characters, the token type of its
    part, and the id that is to be written there."""

    id: int
    label: str
    segment: int
    start: int = 0
    end: int = 0
    type: int = 0
    written: int = NOTHING


def pieces_of(tokenizer: Tokenizer, encoded: TokenizedText, text: str, segment: int, type: int = 0) -> list[Piece]:
    """The pieces of one encoded text; special tokens among them."""
    ids = encoded["input_ids"]
    labels = tokenizer.convert_ids_to_tokens(ids)
    pieces = []
    for id, label, part, offsets in zip(ids, labels, encoded.sequence_ids(0), encoded["offset_mapping"], strict=True):
        if part is None:
            pieces.append(Piece(id, label, SPECIAL, type=type))
            continue
        start, end = trimmed(text, *offsets)
        pieces.append(Piece(id, text[start:end], segment, start, end, type))
    return pieces


def row_of(tokenizer: Tokenizer, pieces: Sequence[Piece], example: Example) -> tuple[Row, Units]:
    """The row of these pieces, and their units; raises `BadInput` where the tokenizer leaves nothing to read or to
    write.
    """
    ids, labels, segments = (tuple(getattr(piece, name) for piece in pieces) for name in ("id", "label", "segment"))
    units = Units(
        "piece",
        labels,
        segments,
        tuple(piece.start for piece in pieces),
        tuple(piece.end for piece in pieces),
        readings=piece_readings(tokenizer, ids, labels, segments),
    )
    for segment, text in enumerate(example.segments):
        if text and segment not in units.segment:
            raise BadInput(
                f"Example {quoted(example.id)}: the tokenizer leaves nothing of the text {quoted(text)}; give one that "
                f"it knows."
            )
    index = coarse_index(units, "word", example.segments)
    words = tuple(SPECIAL if units.special[n] else word for n, word in enumerate(index))
    row = Row(
        ids,
        tuple(piece.type for piece in pieces),
        tuple(range(len(pieces))),
        words,
        units.segment,
        written=tuple(piece.written for piece in pieces),
    )
    return row, units


def two_texts(example: Example, name: str) -> tuple[str, str]:
    """The text that is read and the one that is written; raises `BadInput` where there is only one."""
    if len(example.segments) != 2:
        raise BadInput(
            f"Example {quoted(example.id)} has one text; {name} needs two: what it reads, and what it writes then."
        )
    return example.segments[0], example.segments[1]


def check_length(count: int, most: int | None, what: str, example: Example, name: str) -> None:
    """Raises `BadInput` for more pieces than the model reads at once; nothing is cut."""
    if most is not None and count > most:
        raise BadInput(
            f"Example {quoted(example.id)}: {what} has {count} pieces, and {name} reads {most} at once; give a shorter "
            f"text."
        )


# What a translator that explains itself read before each piece that it writes, by the pieces of the row.


@torch.no_grad()
def written_spans(
    network: Any,  # an encoder–decoder of some family
    reading: SpanReading,
    pieces: Tensor,
    places: Tensor,
) -> WrittenSpans:
    """pieces: [row source place], the number of the piece in its row, -1 where there is none. places: [row piece], the
    step that writes each piece."""
    weights = at_places(reading.weights, places)
    there = weights.amax(1) > 0
    first, last = (
        torch.where(there, pieces[:, ends], torch.full_like(pieces[:, ends], -1))
        for ends in (reading.places.first, reading.places.last)
    )
    layer = source_spans_of(network)
    assert layer is not None  # it gave the reading
    part = layer.span_part(at_places(reading.pooled, places).to(layer.span_part.weight.dtype))
    return WrittenSpans(first, last, weights, part, network.get_output_embeddings().weight.detach())


# Only places from which a piece is written reach the head over the vocabulary: that product is most of a small
# model's work.
#
# In a pass with gradients the product is recorded, so that the way back takes one word's places alone.


@contextmanager
def recorded_product(head: nn.Module | None) -> Iterator[list[HeadProduct]]:
    """The head's product, once it has run inside; nothing of a head that is more than a linear map, or that somebody
    else hooks.
    """
    products: list[HeadProduct] = []
    if type(head) is not nn.Linear or is_watched(head) or head._backward_hooks or head._backward_pre_hooks:
        yield products
        return
    weight = head.weight.detach()
    remove = hook_output(head, lambda _, args, output: products.append(HeadProduct(args[0], output, weight)))
    try:
        yield products
    finally:
        remove()
