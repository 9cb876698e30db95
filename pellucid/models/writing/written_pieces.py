"""The pieces of a text as a tokenizer makes them, with their places in the original characters."""

from collections.abc import Sequence
from dataclasses import dataclass

from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.wording import quoted
from pellucid.core.passes.batch import Row
from pellucid.core.text.example import Example
from pellucid.core.text.units import SPECIAL, Units, coarse_index, trimmed
from pellucid.models.classifiers.tokenizer import TokenizedText, Tokenizer

NOTHING = -1  # the id that is to be written where nothing is


@dataclass(frozen=True)
class Piece:
    """One piece: id, what is shown of it, its segment (-1 for a special token), its characters, the token type of its part,
    and the id that is to be written there."""

    id: int
    label: str
    segment: int
    start: int = 0
    end: int = 0
    type: int = 0
    written: int = NOTHING


def pieces_of(
    tokenizer: Tokenizer, encoded: TokenizedText, text: str, segment: int, type: int = 0
) -> list[Piece]:
    """The pieces of one encoded text; special tokens among them."""
    ids = encoded["input_ids"]
    labels = tokenizer.convert_ids_to_tokens(ids)
    pieces = []
    for id, label, part, offsets in zip(
        ids, labels, encoded.sequence_ids(0), encoded["offset_mapping"], strict=True
    ):
        if part is None:
            pieces.append(Piece(id, label, SPECIAL, type=type))
            continue
        start, end = trimmed(text, *offsets)
        pieces.append(Piece(id, text[start:end], segment, start, end, type))
    return pieces


def row_of(pieces: Sequence[Piece], example: Example) -> tuple[Row, Units]:
    """The row of these pieces, and their units; raises `BadInput` where the tokenizer leaves nothing to read or to write."""
    units = Units(
        "piece",
        tuple(piece.label for piece in pieces),
        tuple(piece.segment for piece in pieces),
        tuple(piece.start for piece in pieces),
        tuple(piece.end for piece in pieces),
    )
    for segment, text in enumerate(example.segments):
        if text and segment not in units.segment:
            raise BadInput(
                f"Example {quoted(example.id)}: the tokenizer leaves nothing of the text {quoted(text)}; give one that it knows."
            )
    index = coarse_index(units, "word", example.segments)
    words = tuple(SPECIAL if units.special[n] else word for n, word in enumerate(index))
    row = Row(
        tuple(piece.id for piece in pieces),
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
            f"Example {quoted(example.id)}: {what} has {count} pieces, and {name} reads {most} at once; give a shorter text."
        )
