"""From texts to rows of tokens, with every piece's place in the original characters."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol, cast

import tokenizers

from pellucid.base.checks import quoted, reason
from pellucid.base.errors import BadInput, ModelCannot
from pellucid.models.classifiers.readable import piece_readings
from pellucid.run.batch import Batch, Row, SpecialIds
from pellucid.run.windows import windows_of
from pellucid.text.example import Example
from pellucid.text.lexicon import has_content
from pellucid.text.units import SPECIAL, Kind, Units, coarse_index, coarsen, trimmed

# What Pellucid uses of a fast tokenizer of Hugging Face, and of its answers.


class Tokenizer(Protocol):
    """A fast tokenizer; ids of special tokens are None where it has no such token."""

    bos_token_id: int | None
    pad_token: str | None
    pad_token_id: int | None
    mask_token_id: int | None
    eos_token_id: int | None
    all_special_ids: list[int]
    model_input_names: list[str]
    model_max_length: int
    backend_tokenizer: tokenizers.Tokenizer

    def __call__(self, *segments: str | list[str], **settings: object) -> Any:  # lists or tensors, by the settings
        """The columns of a text or a pair, or of lists of them."""
        ...

    def __len__(self) -> int:
        """How many tokens it knows, added ones included."""
        ...

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
        """The tokens of ids."""
        ...

    def decode(self, ids: list[int], **settings: object) -> str:
        """The text of ids."""
        ...

    def get_vocab(self) -> dict[str, int]:
        """The id of every token."""
        ...

    def save_pretrained(self, folder: Path) -> object:
        """Write its files."""
        ...


class TokenizedTexts(Protocol):
    """The columns of some texts or pairs, for each a list with one entry a piece."""

    def __getitem__(self, name: str) -> list[list[Any]]:
        """The columns of that name, such as "input_ids" or "offset_mapping"."""
        ...

    def sequence_ids(self, index: int) -> Sequence[int | None]:
        """The segment of each piece of a text; None for special tokens."""
        ...


class TokenizedText(Protocol):
    """The columns of one text or pair as lists, one entry a piece."""

    def __getitem__(self, name: str) -> list[Any]:
        """The column of that name, such as "input_ids" or "offset_mapping"."""
        ...

    def sequence_ids(self, index: int) -> Sequence[int | None]:
        """Each piece's segment; None for special tokens."""
        ...


AT_ONCE = 32  # texts that go through the tokenizer in one call: more make Python look for garbage


def encode(
    tokenizer: Tokenizer,
    examples: Sequence[Example],
    max_length: int,
    special: SpecialIds,
    *,
    sentences: bool = False,
    content: bool = False,
    fixed: int | None = None,
) -> Batch:
    """Tokenise examples, each exactly as the tokenizer would alone; nothing is truncated.

    special: the ids that edits write. A row of more than max_length pieces gets windows. sentences, content: rows also
    say which sentence a piece belongs to, and whether its word is a content word. fixed: the id of a token that is no
    text wherever it stands, such as the mask that a word is guessed for. Raises `BadInput` for a text of which no piece
    is left.
    """
    pairs = [
        _encoded(tokenizer, example, columns.without(fixed, example), max_length, sentences, content)
        for first in range(0, len(examples), AT_ONCE)
        for example, columns in _tokenized_texts(tokenizer, examples[first : first + AT_ONCE])
    ]
    rows, units = tuple(row for row, _ in pairs), tuple(unit for _, unit in pairs)
    return Batch(tuple(examples), rows, units, special)


def refuse_spelt_padding(tokenizer: Tokenizer, batch: Batch, name: str) -> None:
    """Raise `BadInput` where a text spells the padding token out.

    RoBERTa's family gives such a token no position, and so moves all pieces after it. name: what the message calls the
    model.
    """
    for example, row, units in zip(batch.examples, batch.rows, batch.units, strict=True):
        if any(row.ids[piece] == tokenizer.pad_token_id for piece in units.content):
            raise BadInput(
                f"Example {quoted(example.id)}: the text spells {tokenizer.pad_token}, by which {name} "
                "marks what it does not read; write it otherwise, say with a blank inside."
            )


def own_copy(tokenizer: Tokenizer) -> Tokenizer:
    """The tokenizer with settings of its own.

    A call sets truncation and padding in the tokenizer itself, so the user's call in one thread would cut a text that
    is being read in another, or the other way round.
    """
    if isinstance(tokenizer, TokenizerAsCalled):
        return cast(Tokenizer, replace(tokenizer, wrapped=own_copy(tokenizer.wrapped)))
    copied: Any = copy.copy(tokenizer)  # Any: the library keeps the backend in a private attribute
    copied._tokenizer = copy.deepcopy(tokenizer.backend_tokenizer)
    copied._tokenizer.no_truncation()
    copied._tokenizer.no_padding()
    return copied


@dataclass(frozen=True, eq=False)
class TokenizerAsCalled:
    """A tokenizer that is called with a pipeline's settings, such as truncation; all else is the tokenizer's own."""

    wrapped: Tokenizer
    settings: Mapping[str, object]

    def __call__(self, *segments: str | list[str], **settings: object) -> Any:
        """The columns, by the pipeline's settings where both name one."""
        return self.wrapped(*segments, **{**settings, **self.settings})

    def __getattr__(self, name: str) -> Any:
        if name == "wrapped":  # not there yet, while a copy is made
            raise AttributeError(name)
        return getattr(self.wrapped, name)

    def __len__(self) -> int:
        return len(self.wrapped)


def is_failure(error: BaseException) -> bool:
    """Whether the tokenizer failed; the library's own panics are no Exceptions."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def tokenized(tokenizer: Tokenizer, segments: Sequence[str], **settings: object) -> Any:  # as of a Tokenizer
    """The tokenizer's own answer to a text or a pair; raises `ModelCannot` where it fails, say on spoilt files."""
    try:
        return tokenizer(*segments, verbose=False, **settings)  # longer texts than the model reads need no warning
    except BaseException as error:
        if not is_failure(error):
            raise
        text = segments[0] if segments else settings.get("text_target")
        raise ModelCannot(
            f"The tokenizer fails on the text {quoted(text)}: {reason(error)}. Its files may be spoilt."
        ) from None


SETTINGS = {
    "truncation": False,
    "padding": False,
    "return_offsets_mapping": True,
    "return_token_type_ids": True,
}


@dataclass(frozen=True)
class _Columns:
    """What the tokenizer makes of one text or pair, one entry a piece. segments: None for special tokens."""

    ids: list[int]
    types: list[int]
    offsets: list[tuple[int, int]]
    segments: Sequence[int | None]

    def without(self, fixed: int | None, example: Example) -> "_Columns":
        """With this id as a special token, and with it a blank before it that is a piece by itself."""
        if fixed not in self.ids:
            return self
        segments = [None if piece == fixed else segment for piece, segment in zip(self.ids, self.segments, strict=True)]
        for piece, (segment, (start, end)) in enumerate(zip(self.segments, self.offsets, strict=True)):
            is_before = piece + 1 < len(self.ids) and self.ids[piece + 1] == fixed
            if is_before and segment is not None and not example.segments[segment][start:end].strip():
                segments[piece] = None
        return replace(self, segments=segments)


def _tokenized_texts(tokenizer: Tokenizer, examples: Sequence[Example]) -> Iterator[tuple[Example, _Columns]]:
    """Each example with its columns; neighbours with equally many texts go through the tokenizer in one call."""
    for _, group in groupby(examples, lambda example: len(example.segments)):
        alike = list(group)
        together = _together(tokenizer, alike) if len(alike) > 1 and _reads_lists(tokenizer) else None
        yield from zip(alike, together or (_alone(tokenizer, example) for example in alike), strict=True)


def _reads_lists(tokenizer: Tokenizer) -> bool:
    """Whether each text of a list is read as it is alone: in the library's own calls, which no class has replaced by
    its own.
    """
    calls: Any = (getattr(type(tokenizer), name, None) for name in ("__call__", "_encode_plus"))
    modules = [getattr(call, "__module__", "") for call in calls]
    return all(name.startswith("transformers.") and ".models." not in name for name in modules)


def _together(tokenizer: Tokenizer, examples: Sequence[Example]) -> list[_Columns] | None:
    """The columns of examples with equally many texts; None where the tokenizer fails on one of them."""
    lists = map(list, zip(*(example.segments for example in examples), strict=True))
    try:
        encoded: TokenizedTexts = tokenizer(*lists, verbose=False, **SETTINGS)
    except BaseException as error:
        if not is_failure(error):
            raise
        return None
    every = encoded["input_ids"], encoded["token_type_ids"], encoded["offset_mapping"]
    return [_Columns(*row, encoded.sequence_ids(index)) for index, row in enumerate(zip(*every, strict=True))]


def _alone(tokenizer: Tokenizer, example: Example) -> _Columns:
    """The columns of one example; raises `ModelCannot` where the tokenizer fails on it."""
    encoded: TokenizedText = tokenized(tokenizer, example.segments, **SETTINGS)
    every = encoded["input_ids"], encoded["token_type_ids"], encoded["offset_mapping"]
    return _Columns(*every, encoded.sequence_ids(0))


def _encoded(
    tokenizer: Tokenizer,
    example: Example,
    columns: _Columns,
    max_length: int,
    sentences: bool,
    content: bool,
) -> tuple[Row, Units]:
    units = _units(tokenizer, example, columns)
    if not units.content:
        raise BadInput(
            f"Example {quoted(example.id)}: the tokenizer leaves nothing of the text {quoted(example.text)}; give one "
            f"that it knows."
        )
    words = _numbered(units, "word", example)
    row = Row(tuple(columns.ids), tuple(columns.types), tuple(range(len(columns.ids))), words, units.segment)
    if sentences:
        row = replace(row, sentences=_numbered(units, "sentence", example))
    if content:
        row = replace(row, content=_content(units, example))
    windows = windows_of(row, max_length)
    return replace(row, windows=windows) if windows else row, units


def _numbered(units: Units, kind: Kind, example: Example) -> tuple[int, ...]:
    """The number of the word or sentence of each piece; -1 for special tokens."""
    index = coarse_index(units, kind, example.segments)
    return tuple(
        SPECIAL if segment == SPECIAL else unit_number
        for segment, unit_number in zip(units.segment, index, strict=True)
    )


def _content(units: Units, example: Example) -> tuple[int, ...]:
    """For each piece 1 where its word is a content word, 0 where not; -1 for special tokens."""
    words, index = coarsen(units, "word", example.segments)
    says = [int(has_content(label)) for label in words.labels]
    return tuple(SPECIAL if units.special[piece] else says[word] for piece, word in enumerate(index))


def _units(tokenizer: Tokenizer, example: Example, columns: _Columns) -> Units:
    labels, segments, starts, ends = [], [], [], []
    for piece, segment, (start, end) in zip(columns.ids, columns.segments, columns.offsets, strict=True):
        if segment is None:
            segment, start, end = SPECIAL, 0, 0
            label = tokenizer.convert_ids_to_tokens([piece])[0]
        else:
            text = example.segments[segment]
            label = text[start:end]
            if not label or label[0].isspace() or label[-1].isspace():  # few pieces
                start, end = trimmed(text, start, end)
                label = text[start:end]
        labels.append(label)
        segments.append(segment)
        starts.append(start)
        ends.append(end)
    readings = piece_readings(tokenizer, columns.ids, labels, segments)
    return Units("piece", tuple(labels), tuple(segments), tuple(starts), tuple(ends), readings=readings)
