"""From texts to rows of tokens, with every piece's place in the original characters."""

from collections.abc import Sequence
from typing import Any

from pellucid.core.batch import Batch, Row, SpecialIds
from pellucid.core.errors import BadInput
from pellucid.core.example import Example
from pellucid.core.units import SPECIAL, Units, coarsen, trimmed


def encode(tokenizer: Any, examples: Sequence[Example], max_length: int) -> Batch:
    """Tokenise examples one by one, exactly as the tokenizer would alone; nothing is truncated.

    Raises `BadInput` for a text of more than max_length pieces, or of none.
    """
    pairs = [_encode_one(tokenizer, example, max_length) for example in examples]
    rows, units = tuple(row for row, _ in pairs), tuple(unit for _, unit in pairs)
    return Batch(tuple(examples), rows, units, SpecialIds(tokenizer.mask_token_id, tokenizer.pad_token_id))


def _encode_one(tokenizer: Any, example: Example, max_length: int) -> tuple[Row, Units]:
    encoded = tokenizer(
        *example.segments,
        truncation=False,
        padding=False,
        return_offsets_mapping=True,
        return_token_type_ids=True,
        verbose=False,  # its warning about length becomes our error below
    )
    ids = encoded["input_ids"]
    if len(ids) > max_length:
        raise BadInput(
            f"Example {example.id!r} has {len(ids)} pieces, the model reads at most {max_length}; "
            "split the text (it is never cut in silence)."
        )
    units = _units(tokenizer, example, ids, encoded)
    if not units.content:
        raise BadInput(
            f"Example {example.id!r}: the tokenizer leaves nothing of the text {example.text[:40]!r}."
        )
    _, word_of = coarsen(units, "word", example.segments)
    words = tuple(SPECIAL if units.special[piece] else word for piece, word in enumerate(word_of))
    row = Row(tuple(ids), tuple(encoded["token_type_ids"]), tuple(range(len(ids))), words, units.segment)
    return row, units


def _units(tokenizer: Any, example: Example, ids: list[int], encoded: Any) -> Units:
    pieces = tokenizer.convert_ids_to_tokens(ids)
    labels, segments, starts, ends = [], [], [], []
    for piece, segment, offsets in zip(
        pieces, encoded.sequence_ids(0), encoded["offset_mapping"], strict=True
    ):
        if segment is None:
            segment, start, end, label = SPECIAL, 0, 0, piece
        else:
            start, end = trimmed(example.segments[segment], *offsets)
            label = example.segments[segment][start:end]
        labels.append(label)
        segments.append(segment)
        starts.append(start)
        ends.append(end)
    return Units("piece", tuple(labels), tuple(segments), tuple(starts), tuple(ends))
