"""A word that a model writes, as the target: what did the word depend on?

Of translators and language models, which write one piece after another. The number that is explained is the word's
log-probability after everything that was read and written before it, or its lead over another word in that place (Yin
and Neubig, 2022, "Interpreting Language Models with Contrastive Explanations", equation 4, in log-probabilities).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from pellucid.base.catalogue import Call
from pellucid.base.checks import in_syntax, quoted
from pellucid.base.errors import BadInput, BadSetting, ModelCannot
from pellucid.results.explanation import WRITTEN, Explained
from pellucid.run.batch import Batch, Row, WrittenWord, named_word, written_words
from pellucid.run.forward_pass import ForwardPass, SharedPoints
from pellucid.run.hidden_target import EVERY as STATES
from pellucid.run.hidden_target import ResolvedState
from pellucid.run.model import WRITING, Model, Scores
from pellucid.run.target import Explainable
from pellucid.run.trace import NOTHING, Trace, Want, WrittenTrace
from pellucid.text.example import Example
from pellucid.text.units import Spans, Units

# The readout of words that a model writes: the log-probability of each piece, or its lead over another one.

Rival = tuple[tuple[int, ...], int, int]  # what a row is to write, the number of a piece of it, another id in its place


@dataclass(frozen=True)
class WordReadout:
    """[row piece]: log-probabilities of the pieces that are written, in nats, padded with 0 to `width` pieces.

    rivals: where a row has one, that piece's number is its lead over the rival, log p(piece) - log p(rival), and all
    other numbers are 0.
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
        rival_of = {written: (piece, rival_id) for written, piece, rival_id in self.rivals}
        others, compared = ids.clone(), torch.zeros(ids.shape, device=ids.device)
        for index, row in enumerate(rows):
            piece, rival_id = rival_of[row.written]
            others[index, piece], compared[index, piece] = rival_id, 1.0
        return others, compared


EVERY, TEXT = "all", "text"


@dataclass(frozen=True)
class Word:
    """A word that a translator or a language model writes, as the target: `explain(model, (source, text),
    target=Word("rennt"))`.

    step: the word, where it stands once in the text, or its number, from 1. "all": every word, in a row of its own.
        "text": all words together, the log-probability of the text. (A text's words "all" and "text" have numbers.)
    against: another word in that place. Explained is then how far the word leads: the difference of both
        log-probabilities, of the first pieces in which the two differ.

    A word of several pieces has the sum of their log-probabilities, in nats. The explained word and those after it have
    scores of exactly 0; what its later pieces owe to its first ones is left out. Raises `BadSetting` for another step,
    `against` without one word, or a word that is not there.

    >>> pellucid.Word("rennt", against="läuft")
    Word(step='rennt', against='läuft')
    """

    step: int | str | Literal["all", "text"] = EVERY
    against: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.step, bool) or not isinstance(self.step, int | str) or self.step == "":
            raise BadSetting(f"step={quoted(self.step)} is not possible; give a word, its number, 'all' or 'text'.")
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
        for index in range(len(batch)):
            self._words(batch, index)

    def resolve(self, batch: Batch, model: Model) -> "ResolvedWords":
        """The target with each example's words and pieces fixed."""
        words = tuple(self._words(batch, index) for index in range(len(batch)))
        rivals = tuple(self._rival(batch, index, words[index], model) for index in range(len(batch)))
        width = max(sum(id >= 0 for id in row.written) for row in batch.whole_rows)
        readout = WordReadout(width, tuple(dict.fromkeys(rival for rival in rivals if rival is not None)))
        return ResolvedWords(self, words, readout)

    def _words(self, batch: Batch, index: int) -> tuple[WrittenWord, ...]:
        example = batch.examples[index]
        words = written_words(batch.whole_rows[index], batch.whole_units[index], example)
        return words if self.step in (EVERY, TEXT) else (named_word(words, self.step, example),)

    def _rival(self, batch: Batch, index: int, words: Sequence[WrittenWord], model: Model) -> Rival | None:
        """The first piece in which the text and the text with the other word differ."""
        if self.against is None:
            return None
        example, (word,) = batch.examples[index], words
        text = example.segments[-1]
        segments = (*example.segments[:-1], text[: word.start] + self.against + text[word.end :])
        written = batch.whole_rows[index].written
        own_ids = [id for id in written if id >= 0]
        rival = [id for id in model.encode([Example(segments)]).rows[0].written if id >= 0]
        for piece, (own_id, another) in enumerate(zip(own_ids, rival, strict=False)):
            if own_id != another:
                return written, piece, another
        raise BadInput(
            f"against={quoted(self.against)} is no other word than {quoted(word.text)} for this model's tokenizer."
        )


@dataclass(frozen=True)
class ResolvedWords:
    """Words that a model writes, with those of each example fixed.

    word: what was asked for. words: for each example the words that are explained; () for one that has no word here.
    readout: reads the pieces' numbers off a pass. shared_points: of one word among several, what it shares with the
        others.
    """

    word: Word
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
        """[example piece]: 1 where a piece is explained. Of a word with a rival, all pieces but the compared one are 0
        already.
        """
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
        if self.word.step != EVERY:
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
        if self.word.step == EVERY:
            return Explained("each word", None, WRITTEN, value)
        label = "the text" if self.word.step == TEXT else self.words[example][0].text
        return Explained(label, self.word.against, WRITTEN, value)


def _piece_before(row: Row, index: int) -> int:
    """The piece of a row that stands before one of those that are written; index: that of the written one among
    them.
    """
    written = [piece for piece, id in enumerate(row.written) if id >= 0]
    return written[index] - 1


# Scores of words that a model writes: a row for each word, and nothing of what comes after it.


def scores_of(call: Call, forward: ForwardPass, target: Explainable) -> Scores:
    """A method's scores for a target; for words one call a row, all of them on the same pass.

    Of a model that writes, words that come after what is explained score exactly 0, for a state as for a word.

    Scores of units that stand at the explained word or after it are 0: the model has not read them when it begins the
    word, so whatever a method gives them is noise of its own, or what the word's later pieces owe to its first ones.
    Rows of the method's own, such as draws, come behind those of words.
    """
    if isinstance(target, ResolvedState) and WRITING in forward.model.capabilities:
        return _without_unread(call(forward, target), forward, target)
    if not isinstance(target, ResolvedWords):
        return call(forward, target)
    of_rows = [_blanked(call(forward, row), forward, row) for row in target.one_a_row()]
    if target.word.step != EVERY:
        return of_rows[0]
    counts = list(map(len, target.words))
    values = tuple(
        torch.stack([scores.values[index] for scores in of_rows[:count]]) for index, count in enumerate(counts)
    )
    facts = tuple(tuple(scores.facts(index) for scores in of_rows[:count]) for index, count in enumerate(counts))
    rows = tuple((("word", tuple(word.label for word in words)), *of_rows[0].rows) for words in target.words)
    return Scores(values, units=of_rows[0].units, of_rows=facts, rows_of=rows)


def _blanked(scores: Scores, forward: ForwardPass, target: ResolvedWords) -> Scores:
    units = scores.units or forward.batch.units
    values = tuple(map(_before, scores.values, units, target.words))
    return replace(scores, values=values)


def _without_unread(scores: Scores, forward: ForwardPass, target: ResolvedState) -> Scores:
    """The scores, 0 for written words that stand behind the last piece whose state is explained."""
    batch, values = forward.batch, []
    for index, of_example in enumerate(scores.values):
        units = (scores.units or batch.units)[index]
        begins = _first_unread(batch.rows[index], batch.units[index], target)
        is_cut = begins is not None and isinstance(units, Units)
        values.append(_cut(of_example, units, begins) if is_cut else of_example)  # type: ignore[arg-type]
    return replace(scores, values=tuple(values))


def _first_unread(row: Row, pieces: Units, target: ResolvedState) -> int | None:
    """The character at which the first written piece behind the explained ones begins; None where there is none."""
    read = range(len(row)) if target.hidden_state.positions == STATES else target.readout.pieces(row)
    later = [piece for piece, id in enumerate(row.written) if id >= 0 and piece > max(read, default=-1)]
    return pieces.start[later[0]] if later else None


def _before(scores: Tensor, units: object, words: Sequence[Any]) -> Tensor:
    """[... unit]: the scores, 0 from the last explained word on."""
    if not words:
        return torch.zeros_like(scores)
    if isinstance(units, Spans):
        return _of_source(scores, units)
    assert isinstance(units, Units)
    return _cut(scores, units, words[-1].begins)


def _cut(scores: Tensor, units: Units, begins: int) -> Tensor:
    """[... unit]: the scores, 0 for units of the written text that begin at this character or after it."""
    later = [
        unit
        for unit, (segment, start) in enumerate(zip(units.segment, units.start, strict=True))
        if segment == max(units.segment) and start >= begins
    ]
    scores = scores.clone()
    scores[..., later] = 0.0
    return scores


def _of_source(scores: Tensor, units: Spans) -> Tensor:
    """Scores of spans as they are: those of the source all stand before every word."""
    segments = np.array(units.parts.segment)
    if len(units) and (segments[units.last] > 0).any():
        raise ModelCannot("Words that are written are explained by spans of the source alone.")
    return scores
