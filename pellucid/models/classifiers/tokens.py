"""From texts to rows of tokens, with every piece's place in the original characters."""

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pellucid.core.foundation.errors import BadInput, ModelCannot
from pellucid.core.foundation.wording import quoted, reason
from pellucid.core.passes.batch import Batch, Row, SpecialIds
from pellucid.core.passes.windows import windows_of
from pellucid.core.text.content_words import has_content
from pellucid.core.text.example import Example
from pellucid.core.text.units import SPECIAL, Kind, Units, coarse_index, coarsen, trimmed
from pellucid.models.classifiers.tokenizer import TokenizedText, Tokenizer


def encode(
    tokenizer: Tokenizer,
    examples: Sequence[Example],
    max_length: int,
    special: SpecialIds,
    *,
    sentences: bool = False,
    content: bool = False,
) -> Batch:
    """Tokenise examples one by one, exactly as the tokenizer would alone; nothing is truncated.

    special: the ids that edits write. A row of more than max_length pieces gets windows. sentences, content: rows also say
    which sentence a piece belongs to, and whether its word is a content word. Raises `BadInput` for a text of which no
    piece is left.
    """
    pairs = [_encode_one(tokenizer, example, max_length, sentences, content) for example in examples]
    rows, units = tuple(row for row, _ in pairs), tuple(unit for _, unit in pairs)
    return Batch(tuple(examples), rows, units, special)


def refuse_spelt_padding(tokenizer: Tokenizer, batch: Batch, name: str) -> None:
    """Raise `BadInput` where a text spells the padding token out.

    RoBERTa's family gives such a token no position, and so moves all pieces after it. name: what the message calls the model.
    """
    for example, row, units in zip(batch.examples, batch.rows, batch.units, strict=True):
        if any(row.ids[piece] == tokenizer.pad_token_id for piece in units.content):
            raise BadInput(
                f"Example {quoted(example.id)}: the text spells {tokenizer.pad_token}, by which {name} "
                "marks what it does not read; write it otherwise, say with a blank inside."
            )


def own_copy(tokenizer: Tokenizer) -> Tokenizer:
    """The tokenizer with settings of its own.

    A call sets truncation and padding in the tokenizer itself, so the user's call in one thread would cut a text that is
    being read in another, or the other way round.
    """
    own: Any = copy.copy(tokenizer)  # Any: the library keeps the backend in a private attribute
    own._tokenizer = copy.deepcopy(tokenizer.backend_tokenizer)
    own._tokenizer.no_truncation()
    own._tokenizer.no_padding()
    return own


def tokenized(tokenizer: Tokenizer, segments: Sequence[str], **settings: object) -> Any:  # as of a Tokenizer
    """The tokenizer's own answer to a text or a pair; raises `ModelCannot` where it fails, say on spoilt files."""
    try:
        return tokenizer(
            *segments, verbose=False, **settings
        )  # longer texts than the model reads need no warning
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise  # the library's own panics are no Exceptions
        text = segments[0] if segments else settings.get("text_target")
        raise ModelCannot(
            f"The tokenizer fails on the text {quoted(text)}: {reason(error)}. Its files may be spoilt."
        ) from None


def _encode_one(
    tokenizer: Tokenizer, example: Example, max_length: int, sentences: bool, content: bool
) -> tuple[Row, Units]:
    encoded: TokenizedText = tokenized(
        tokenizer,
        example.segments,
        truncation=False,
        padding=False,
        return_offsets_mapping=True,
        return_token_type_ids=True,
    )
    ids = encoded["input_ids"]
    units = _units(tokenizer, example, ids, encoded)
    if not units.content:
        raise BadInput(
            f"Example {quoted(example.id)}: the tokenizer leaves nothing of the text {quoted(example.text)}; give one that it knows."
        )
    words = _numbered(units, "word", example)
    row = Row(tuple(ids), tuple(encoded["token_type_ids"]), tuple(range(len(ids))), words, units.segment)
    if sentences:
        row = replace(row, sentences=_numbered(units, "sentence", example))
    if content:
        row = replace(row, content=_content(units, example))
    return replace(row, windows=windows_of(row, max_length)), units


def _numbered(units: Units, kind: Kind, example: Example) -> tuple[int, ...]:
    """The number of the word or sentence of each piece; -1 for special tokens."""
    index = coarse_index(units, kind, example.segments)
    return tuple(
        SPECIAL if segment == SPECIAL else number
        for segment, number in zip(units.segment, index, strict=True)
    )


def _content(units: Units, example: Example) -> tuple[int, ...]:
    """For each piece 1 where its word is a content word, 0 where not; -1 for special tokens."""
    words, index = coarsen(units, "word", example.segments)
    says = [int(has_content(label)) for label in words.labels]
    return tuple(SPECIAL if units.special[piece] else says[word] for piece, word in enumerate(index))


def _units(tokenizer: Tokenizer, example: Example, ids: list[int], encoded: TokenizedText) -> Units:
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
