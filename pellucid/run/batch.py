"""Rows of pieces without padding, and the edits that perturbation methods and metrics make on them.

A row carries its own positions, so a piece can be left out without moving its neighbours. No text is edited and
tokenised again: an edit is a pure function from a row to a row.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from itertools import groupby, pairwise
from struct import pack
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from pellucid.base.checks import listed, one_of, quoted
from pellucid.base.errors import BadInput, BadSetting, ModelCannot
from pellucid.base.packages import cached_property
from pellucid.text.example import Example
from pellucid.text.passages import fixed_parts_of, fixed_units
from pellucid.text.units import Kind, Units, coarsen

Operator = Literal["absent", "mask", "pad", "delete"]
OPERATORS = get_args(Operator)
OPERATORS_IN_WORDS: dict[str, str] = {
    "absent": "left out while the others keep their places",
    "mask": "replaced by the mask token",
    "pad": "replaced by the padding token",
    "delete": "deleted",
}
Window = tuple[tuple[int, int], ...]  # ranges [first, last) of positions that the model reads together


COLUMNS = ("ids", "types", "positions", "word_index", "segments")  # of every row
MORE_COLUMNS = ("sentences", "content", "read", "numbers")  # of some rows
EVERY_COLUMN = (*COLUMNS, *MORE_COLUMNS)
IDS, POSITIONS = COLUMNS.index("ids"), COLUMNS.index("positions")
ANSWER_BITS = 3  # the bits of `read` by which an answer is read at a piece


@dataclass(frozen=True)
class Row:
    """The pieces of one text or pair: parallel tuples, one entry a piece.

    ids, types: what the tokenizer gives. positions: 0-based; they have gaps where pieces are absent. word_index,
    segments: the word and the text that each piece belongs to (-1 for special tokens). windows: the parts in which the
    model reads a row that is too long for it; empty: it reads the row at once.

    Some models also read these; for other models they are empty. sentences: the number of each piece's sentence.
    content: 1 for pieces of content words, 0 for others. Both are -1 for special tokens. read: of a model that answers
    for each piece, what is read at a piece, 0 where nothing is (`models/classifiers/piece_answers.py`).

    written: of a row that a model writes a text for, one entry a piece of the row as it was encoded: the id that the
    model is to write there, -1 where it writes nothing. Edits leave it as it is: they change what is read, not what is
    asked for.

    numbers: the number of each piece in the text as it was encoded. They are set in rows whose positions were changed
    (windows, closed gaps), else empty. No model reads them, so rows that differ in nothing else are equal.

    A corpus has millions of edited rows, most of which only a network reads. So an edited row is a part of its text's
    `table`, and has tuples only when somebody reads them.
    """

    ids: tuple[int, ...]
    types: tuple[int, ...]
    positions: tuple[int, ...]
    word_index: tuple[int, ...]
    segments: tuple[int, ...]
    windows: tuple[Window, ...] = ()
    sentences: tuple[int, ...] = ()
    content: tuple[int, ...] = ()
    read: tuple[int, ...] = ()
    written: tuple[int, ...] = ()
    numbers: tuple[int, ...] = field(default=(), compare=False)

    @classmethod
    def of_table(cls, table: np.ndarray, text: "Row", extent: int | None = None) -> "Row":
        """The row of a table [piece column] that has the columns of a text's row, and its windows; extent: where it is
        known.
        """
        row = object.__new__(cls)
        columns = text.columns if len(table) else COLUMNS  # a column without an entry is none
        row.__dict__.update(table=table, columns=columns, length=len(table), windows=text.windows, written=text.written)
        if extent is not None:
            row.__dict__["extent"] = extent
        for index in range(len(COLUMNS), len(columns)):
            row.__dict__[columns[index]] = tuple(table[:, index].tolist())
        return row

    if not TYPE_CHECKING:  # so that a misspelt name stays an error for who checks types

        def __getattr__(self, name: str) -> tuple[int, ...]:
            """A column of a row that was made of a table."""
            if name not in COLUMNS or "table" not in self.__dict__:
                raise AttributeError(f"{type(self).__name__} has no attribute {name}")
            column = self.__dict__[name] = tuple(self.table[:, COLUMNS.index(name)].tolist())
            return column

    def __len__(self) -> int:
        return self.length

    @cached_property
    def length(self) -> int:
        """How many pieces it has: `len(row)`, without the call of a function, which counts for a million rows."""
        return len(self.ids)

    @cached_property
    def extent(self) -> int:
        """How many positions it covers, those of absent pieces included."""
        return int(self.table[-1, POSITIONS]) + 1 if self.length else 0

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the table's columns."""
        return COLUMNS + tuple(name for name in MORE_COLUMNS if getattr(self, name))

    @cached_property
    def table(self) -> np.ndarray:
        """[piece column], whole numbers."""
        return np.array([getattr(self, name) for name in self.columns], dtype=np.int64).T.copy()

    @cached_property
    def digest(self) -> bytes:
        """Sixteen bytes that identify this row among all rows of a model."""
        ending = _ending(self.columns, self.written)
        return blake2b(self.table.tobytes() + ending, digest_size=16).digest()

    @cached_property
    def text(self) -> bytes:
        """Sixteen bytes that are equal for rows that a network reads alike, whatever they ask about."""
        return blake2b(self.table[:, : len(COLUMNS)].tobytes(), digest_size=16).digest()

    def keep(self, pieces: Sequence[int]) -> "Row":
        """The row with only these pieces, in order, each at its own position."""
        return Row.of_table(self.table[np.asarray(pieces, dtype=np.intp)], self)

    @property
    def own_numbers(self) -> tuple[int, ...]:
        """The number of each piece in the text as it was encoded, whatever was removed since."""
        return self.numbers or self.positions

    def closed(self) -> "Row":
        """The row without gaps in its positions; each window still contains the same pieces."""
        if self.positions == tuple(range(len(self))):
            return self
        closed = lambda border: bisect_left(self.positions, border)  # noqa: E731
        windows = tuple(tuple((closed(a), closed(b)) for a, b in window) for window in self.windows)
        positions = tuple(range(len(self)))
        return replace(self, positions=positions, windows=windows, numbers=self.own_numbers)


@lru_cache(maxsize=64)  # all rows of a classifier have the same one
def _ending(columns: tuple[str, ...], written: tuple[int, ...]) -> bytes:
    """What tells rows apart whose tables have the same numbers, but different columns, or different words to write."""
    more = sum(1 << EVERY_COLUMN.index(name) for name in columns[len(COLUMNS) :])
    return pack(f"<{len(written)}q2q", *written, len(written), more)


# Rows that ask about several places of one text: what a network makes of the text, it makes once for all of them.


def text_keys(rows: Sequence[Row]) -> list[Hashable]:
    """[row]: equal for rows that differ in nothing but what is asked about; a row that comes again, as the points of a
    path do, is another text each time.
    """
    if not any(row.read for row in rows):
        return [*range(len(rows))]
    before: Counter[int] = Counter()
    keys: list[Hashable] = []
    for row in rows:
        keys.append((row.text, before[id(row)]))
        before[id(row)] += 1
    return keys


def shared_texts(rows: Sequence[Row], points: Tensor | None = None) -> tuple[int, ...]:
    """[row]: the number of its text among those that a run computes; empty where each row is a text of its own.

    points: [row unit width], what the run starts from instead of the rows' embeddings: rows share a text where theirs
    are equal, and none do where gradients by them are wanted.
    """
    keys = text_keys(rows)
    first: dict[Hashable, int] = {}
    firsts = [first.setdefault(key, row) for row, key in enumerate(keys)]
    if len(first) == len(rows) or (points is not None and points.requires_grad):
        return ()
    if points is not None:
        is_same = (points == points[firsts]).flatten(1).all(1).tolist()
        firsts = [leader if same else row for row, (leader, same) in enumerate(zip(firsts, is_same, strict=True))]
    numbers: dict[int, int] = {}
    of_row = tuple(numbers.setdefault(leader, len(numbers)) for leader in firsts)
    return of_row if len(numbers) < len(rows) else ()


@dataclass(frozen=True)
class SpecialIds:
    """The ids that edits write; None where the tokenizer has no such token."""

    mask: int | None
    pad: int | None

    @property
    def unknown_word(self) -> int | None:
        """What stands for a word that an answer is about, which cannot be left out: the mask token, else the pad."""
        return self.pad if self.mask is None else self.mask

    def get(self, name: Literal["mask", "pad"]) -> int:
        """The id of the mask or pad token; raises `ModelCannot` when there is none."""
        value = self.mask if name == "mask" else self.pad
        if value is None:
            raise ModelCannot(f"The tokenizer has no {name} token; use the operator 'absent' or 'delete'.")
        return value


def edit(row: Row, removed: Collection[int], operator: Operator, special: SpecialIds) -> Row:
    """Take pieces out of a row.

    operator: "absent" leaves them out of the computation, and all others keep their positions; "mask" and "pad" write
    that token over them, which the model still attends to; "delete" leaves them out and closes the gaps. A model that
    counts positions among the attended pieces (BLOOM's ALiBi) gives the same answer for "absent" and "delete". A piece
    that an answer is read from stays, under the mask token, whatever the operator.
    """
    is_removed = np.zeros((1, len(row)), dtype=bool)
    is_removed[0, list(removed)] = True
    return edits(row, is_removed, operator, special)[0]


def edits(row: Row, removed: np.ndarray, operator: Operator, special: SpecialIds) -> list[Row]:
    """The row without the pieces of each line of removed [edit piece] bool, taken out as by `edit`."""
    one_of("operator", operator, OPERATORS)
    if row.read:
        return _around_answers(row, removed, operator, special)
    if operator in ("mask", "pad"):
        tables = np.repeat(row.table[None], len(removed), axis=0)
        tables[..., IDS][removed] = special.get(operator)
        return [Row.of_table(table, row, row.extent) for table in tables]
    ends = (~removed).sum(1).cumsum()
    rest = row.table[np.nonzero(~removed)[1]]
    # One past each row's last position; an empty row gets its neighbour's, instead of which it has 0.
    extents = np.r_[0, rest[:, POSITIONS] + 1][ends].tolist()
    borders = pairwise([0, *ends.tolist()])
    rows = [
        Row.of_table(rest[start:end], row, extent if end > start else 0)
        for (start, end), extent in zip(borders, extents, strict=True)
    ]
    return [edited.closed() for edited in rows] if operator == "delete" else rows


def _around_answers(row: Row, removed: np.ndarray, operator: Operator, special: SpecialIds) -> list[Row]:
    """The same of a row with pieces that answers are read from: these get the mask token where they are removed."""
    is_read = np.array(row.read) & ANSWER_BITS > 0
    tables = np.repeat(row.table[None], len(removed), axis=0)
    if special.unknown_word is not None:
        tables[..., IDS][removed & is_read] = special.unknown_word
    rest = removed & ~is_read
    if operator in ("mask", "pad"):
        tables[..., IDS][rest] = special.get(operator)
        return [Row.of_table(table, row, row.extent) for table in tables]
    rows = [Row.of_table(table[~absent], row) for table, absent in zip(tables, rest, strict=True)]
    return [edited.closed() for edited in rows] if operator == "delete" else rows


@dataclass(frozen=True)
class Batch:
    """Several examples as unpadded rows with their units; the model pads them when it runs.

    units: the pieces of each row. special: the ids that edits write. parts: for a row that is a window, the numbers of
    its pieces in its example; None for a whole example. whole_rows, whole_units: row and pieces of the whole example;
    equal to `rows` and `units` where an example fits one window.
    """

    examples: tuple[Example, ...]
    rows: tuple[Row, ...]
    units: tuple[Units, ...]
    special: SpecialIds
    parts: tuple[tuple[int, ...] | None, ...] = ()
    whole_rows: tuple[Row, ...] = ()
    whole_units: tuple[Units, ...] = ()

    def __post_init__(self) -> None:
        if any(map(fixed_parts_of, self.examples)):
            pairs = zip(self.units, self.examples, strict=True)
            object.__setattr__(self, "units", tuple(fixed_units(units, example) for units, example in pairs))
            self._refuse_nothing()
        object.__setattr__(self, "parts", self.parts or (None,) * len(self.rows))
        object.__setattr__(self, "whole_rows", self.whole_rows or self.rows)
        object.__setattr__(self, "whole_units", self.whole_units or self.units)

    def _refuse_nothing(self) -> None:
        """Raise `BadInput` for a whole text of which everything stays; a window of a text may be such."""
        for units, example in zip(self.units, self.examples, strict=True):
            if not self.parts and not units.content:
                raise BadInput(f"keep= leaves nothing of example {quoted(example.id)} to be explained; name less.")

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """[example] pieces in each row, special tokens included; counted once, since training asks for each text of
        each step.
        """
        return tuple(len(row) for row in self.rows)

    def select(self, indices: Sequence[int]) -> "Batch":
        """The batch of these examples."""
        pick = lambda column: tuple(column[index] for index in indices)  # noqa: E731
        return Batch(
            pick(self.examples),
            pick(self.rows),
            pick(self.units),
            self.special,
            pick(self.parts),
            pick(self.whole_rows),
            pick(self.whole_units),
        )

    def crop(self, padded: Tensor) -> tuple[Tensor, ...]:
        """[example *rows unit] -> one tensor [*rows unit] an example, without padding."""
        return tuple(values[..., :length] for values, length in zip(padded, self.lengths, strict=True))

    def content_mask(self) -> Tensor:
        """[example unit] bool: True at text, False at special tokens and padding."""
        mask = torch.zeros(len(self), max(self.lengths), dtype=torch.bool)
        for example, units in enumerate(self.units):
            mask[example, list(units.content)] = True
        return mask

    def pieces_of(self, example: int, kind: Kind) -> tuple[tuple[int, ...], ...]:
        """The pieces of each content unit of this kind: an edit removes all pieces of a unit."""
        units, index = coarsen(self.units[example], kind, self.examples[example].segments)
        pieces: list[list[int]] = [[] for _ in range(len(units))]
        for piece, unit in enumerate(index):
            pieces[unit].append(piece)
        return tuple(tuple(pieces[unit]) for unit in units.content)

    def edited(self, example: int, removed: Collection[int], operator: Operator) -> Row:
        """One row of the batch without these pieces."""
        return edit(self.rows[example], removed, operator, self.special)

    def edited_rows(self, example: int, removed: np.ndarray, operator: Operator) -> list[Row]:
        """The rows of the example without the pieces of each line of removed [edit piece] bool."""
        return edits(self.rows[example], removed, operator, self.special)


# The words that a model writes: which pieces each is made of, and what each is called where people see it.


@dataclass(frozen=True)
class WrittenWord:
    """A word that a model is to write.

    step: its number, from 1, in reading order. text: as it stands in the second text. start, end: its characters there.
    begins: where its first piece starts, which may cover the blank before it. pieces: the numbers of its pieces among
    all pieces that are written.
    """

    step: int
    text: str
    start: int
    end: int
    begins: int
    pieces: tuple[int, ...]

    @property
    def label(self) -> str:
        """What its row is called: its number and the word."""
        return f"{self.step} {self.text}"


def written_words(row: Row, units: Units, example: Example) -> tuple[WrittenWord, ...]:
    """The words of the text that a row is to be continued with; units: the row's pieces, as encoded."""
    words, index = coarsen(units, "word", example.segments)
    written = [piece for piece, id in enumerate(row.written) if id >= 0]
    groups = groupby(enumerate(written), key=lambda pair: index[pair[1]])
    return tuple(
        WrittenWord(
            step,
            words.labels[word],
            words.start[word],
            words.end[word],
            min(words.start[word], units.start[members[0][1]]),
            tuple(place for place, _ in members),
        )
        for step, (word, members) in enumerate(((word, list(group)) for word, group in groups), 1)
    )


def named_word(words: Sequence[WrittenWord], name: str | int, example: Example) -> WrittenWord:
    """The word of this number, or the one with this text; raises `BadSetting` where there is none, or several."""
    if isinstance(name, int):
        if not 1 <= name <= len(words):
            raise BadSetting(
                f"Word {name} is not in the text of example {quoted(example.id)}, which has words 1 to {len(words)}."
            )
        return words[name - 1]
    alike = [word for word in words if word.text == name]
    if len(alike) == 1:
        return alike[0]
    if alike:
        numbers = listed([str(word.step) for word in alike])
        raise BadSetting(
            f"The word {quoted(name)} is there {len(alike)} times in the text of example {quoted(example.id)}; "
            f"give its number: {numbers}."
        )
    raise BadSetting(
        f"The word {quoted(name)} is not in the text that the model writes for example {quoted(example.id)}: "
        f"{quoted(example.segments[-1])}. Its words are {listed([word.text for word in words])}."
    )
