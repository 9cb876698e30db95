"""A word that a model writes, as the target: what did the word depend on?

Of translators and language models, which write one piece after another. The number that is explained is the word's
log-probability after everything that was read and written before it, or its lead over another word in that place (Yin and
Neubig, 2022, "Interpreting Language Models with Contrastive Explanations", equation 4, in log-probabilities).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import torch
from torch import Tensor

from pellucid.base.errors import BadInput, BadSetting, ModelCannot
from pellucid.base.wording import in_syntax, quoted
from pellucid.results.explanation import Explained
from pellucid.results.prediction import WRITTEN
from pellucid.run.batch import Batch, Row
from pellucid.run.many_points import SharedPoints
from pellucid.run.model import WRITING, Model
from pellucid.run.trace import NOTHING, Trace, Want, WrittenTrace
from pellucid.run.written_words import WrittenWord, named_word, written_words
from pellucid.text.example import Example

# The readout of words that a model writes: the log-probability of each piece, or its lead over another
# one.


Rival = tuple[
    tuple[int, ...], int, int
]  # what a row is to write, the number of a piece of it, another id in its place


@dataclass(frozen=True)
class WordReadout:
    """[row piece]: log-probabilities of the pieces that are written, in nats, padded with 0 to `width` pieces.

    rivals: where a row has one, that piece's number is its lead over the rival, log p(piece) - log p(rival), and all other
    numbers are 0.
    """

    width: int
    rivals: tuple[Rival, ...] = ()
    want: Want = NOTHING

    @property
    def key(self) -> bytes:
        """The width and the rivals."""
        return repr(("words", self.width, self.rivals)).encode()

    def answers(self, trace: Trace, rows: Sequence[Row]) -> Tensor:
        """[row piece]"""
        assert trace.written is not None  # only a model that writes is asked
        ids = trace.written.ids
        values = trace.written.log_probabilities(ids)
        if self.rivals:
            others, compared = self._others(rows, ids)
            values = (values - trace.written.log_probabilities(others)) * compared
        return torch.nn.functional.pad(values, (0, self.width - values.shape[1]))

    def origin(self, trace: Trace, rows: Sequence[Row]) -> Tensor:
        """[row piece id]: logits over the vocabulary."""
        assert trace.written is not None
        return trace.written.logits

    def answers_from(self, origin: Tensor, trace: Trace, rows: Sequence[Row]) -> Tensor:
        """[row piece]: the answers of other logits; rows: the first of the trace's."""
        assert trace.written is not None
        written = WrittenTrace(origin, trace.written.ids[: len(rows)])
        return self.answers(replace(trace, written=written), rows)

    def _others(self, rows: Sequence[Row], ids: Tensor) -> tuple[Tensor, Tensor]:
        """[row piece]: the rivals' ids, and 1 where there is one."""
        rival_of = {written: (piece, other) for written, piece, other in self.rivals}
        others, compared = ids.clone(), torch.zeros(ids.shape, device=ids.device)
        for number, row in enumerate(rows):
            piece, other = rival_of[row.written]
            others[number, piece], compared[number, piece] = other, 1.0
        return others, compared


EVERY, TEXT = "all", "text"


@dataclass(frozen=True)
class Word:
    """A word that a translator or a language model writes, as the target: `explain(model, (source, text), target=Word("rennt"))`.

    step: the word, where it stands once in the text, or its number, from 1. "all": every word, in a row of its own. "text":
        all words together, the log-probability of the text. (A text's words "all" and "text" have numbers.)
    against: another word in that place. Explained is then how far the word leads: the difference of both log-probabilities, of
        the first pieces in which the two differ.

    A word of several pieces has the sum of their log-probabilities, in nats. The explained word and those after it have scores of
    exactly 0; what its later pieces owe to its first ones is left out. Raises `BadSetting` for another step, `against` without one word, or a word that is not there.

    >>> pellucid.Word("rennt", against="läuft")
    Word(step='rennt', against='läuft')
    """

    step: int | str | Literal["all", "text"] = EVERY
    against: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.step, bool) or not isinstance(self.step, int | str) or self.step == "":
            raise BadSetting(
                f"step={quoted(self.step)} is not possible; give a word, its number, 'all' or 'text'."
            )
        if self.against is None:
            return
        if not isinstance(self.against, str) or not self.against.strip():
            raise BadSetting(f"against={quoted(self.against)} is not possible; give another word.")
        if self.step in (EVERY, TEXT):
            one_word = in_syntax("Word(step, against=…)", "--target WORD --against WORD")
            raise BadSetting(f"against={quoted(self.against)} needs one word: {one_word}.")

    def in_words(self, labels: Sequence[str]) -> str:
        """The target in words: "log-probability of the text"; labels: a model that writes has none that count."""
        what = {EVERY: "each word", TEXT: "the text"}.get(str(self.step), f"the word {quoted(self.step)}")
        return f"{WRITTEN} of {what}" + ("" if self.against is None else f" against {self.against}")

    def check(self, model: Model, batch: Batch) -> None:
        """Raises `ModelCannot` for a model that writes nothing, `BadSetting` for a word that is not there."""
        if WRITING not in model.capabilities:
            raise ModelCannot(f"{model.name} writes no words; explain one of its classes.")
        for number in range(len(batch)):
            self._words(batch, number)

    def resolve(self, batch: Batch, model: Model) -> "ResolvedWords":
        """The target with each example's words and pieces fixed."""
        words = tuple(self._words(batch, number) for number in range(len(batch)))
        rivals = tuple(self._rival(batch, number, words[number], model) for number in range(len(batch)))
        width = max(sum(id >= 0 for id in row.written) for row in batch.whole_rows)
        readout = WordReadout(width, tuple(dict.fromkeys(rival for rival in rivals if rival is not None)))
        return ResolvedWords(self, words, readout)

    def _words(self, batch: Batch, number: int) -> tuple[WrittenWord, ...]:
        example = batch.examples[number]
        words = written_words(batch.whole_rows[number], batch.whole_units[number], example)
        return words if self.step in (EVERY, TEXT) else (named_word(words, self.step, example),)

    def _rival(self, batch: Batch, number: int, words: Sequence[WrittenWord], model: Model) -> Rival | None:
        """The first piece in which the text and the text with the other word differ."""
        if self.against is None:
            return None
        example, (word,) = batch.examples[number], words
        text = example.segments[-1]
        other = (*example.segments[:-1], text[: word.start] + self.against + text[word.end :])
        written = batch.whole_rows[number].written
        own = [id for id in written if id >= 0]
        rival = [id for id in model.encode([Example(other)]).rows[0].written if id >= 0]
        for piece, (one, another) in enumerate(zip(own, rival, strict=False)):
            if one != another:
                return written, piece, another
        raise BadInput(
            f"against={quoted(self.against)} is no other word than {quoted(word.text)} for this model's tokenizer."
        )


@dataclass(frozen=True)
class ResolvedWords:
    """Words that a model writes, with those of each example fixed.

    of: what was asked for. words: for each example the words that are explained; () for one that has no word here. readout:
    reads the pieces' numbers off a pass. shared_points: of one word among several, what it shares with the others.
    """

    of: Word
    words: tuple[tuple[WrittenWord, ...], ...]
    readout: WordReadout
    shared_points: SharedPoints | None = field(default=None, compare=False, repr=False)

    def values(self, answers: Tensor) -> Tensor:
        """[example piece] -> [example]: the sum over the pieces of each example's words."""
        return (answers * self._pieces(answers)).sum(-1)

    def values_of(self, example: int, answers: Tensor) -> Tensor:
        """[variant piece] -> [variant]: the same for variants of one example."""
        return self.select([example] * len(answers)).values(answers)

    def _pieces(self, answers: Tensor) -> Tensor:
        """[example piece]: 1 where a piece is explained. Of a word with a rival, all pieces but the compared one are 0 already."""
        explained = torch.zeros(answers.shape, dtype=answers.dtype)
        for line, words in zip(explained, self.words, strict=True):
            if self.readout.rivals and words:
                line[:] = 1.0
            line[[piece for word in words for piece in word.pieces]] = 1.0
        return explained.to(answers.device)

    def rival_of(self, row: Row) -> Rival | None:
        """What a row's word is compared with; None where no other word was named."""
        return next((rival for rival in self.readout.rivals if rival[0] == row.written), None)

    def select(self, indices: Sequence[int]) -> "ResolvedWords":
        """The target of these examples."""
        return replace(self, words=tuple(self.words[index] for index in indices))

    def pieces_read(self, rows: Sequence[Row]) -> list[list[int]]:
        """For each row the pieces after which those of its words are written."""
        return [
            [_piece_before(row, piece) for word in words for piece in word.pieces]
            for row, words in zip(rows, self.words, strict=True)
        ]

    def one_a_row(self) -> "list[ResolvedWords]":
        """For each row the target of that row alone: of every word in turn, else the target itself."""
        if self.of.step != EVERY:
            return [self]
        longest, shared = max(map(len, self.words)), SharedPoints()
        shared.targets = [
            replace(self, words=tuple(words[row : row + 1] for words in self.words), shared_points=shared)
            for row in range(longest)
        ]
        return [*shared.targets]  # type: ignore[list-item]

    def explained(self, example: int, answer: Tensor, labels: Sequence[str]) -> Explained:
        """The explained value with its name; answer: the example's own [piece]. Of every word it is the sum."""
        value = float(self.values_of(example, answer[None].double()))
        if self.of.step == EVERY:
            return Explained("each word", None, WRITTEN, value)
        label = "the text" if self.of.step == TEXT else self.words[example][0].text
        return Explained(label, self.of.against, WRITTEN, value)


def _piece_before(row: Row, number: int) -> int:
    """The piece of a row that stands before one of those that are written; number: that of the written one among them."""
    written = [piece for piece, id in enumerate(row.written) if id >= 0]
    return written[number] - 1
