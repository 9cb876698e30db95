"""The words of many texts with the vectors that go into a model's encoder and the states that come out."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from pellucid.core.foundation.errors import ModelCannot
from pellucid.core.passes.batch import Row
from pellucid.core.passes.model import Model
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.passes.trace import Trace, Want
from pellucid.core.text.example import Example
from pellucid.core.text.units import SPECIAL


@dataclass(frozen=True, eq=False)
class WordStates:
    """Occurrences of words, in the order of the texts.

    words: [occurrence], the number of the word. vectors: [word width], one a word, since a word's vector is the same wherever
    it stands. states: [occurrence state width]. unit: "word" or "piece", what a word is here. Both in single precision.
    """

    words: Tensor
    vectors: Tensor
    states: Tensor
    unit: str

    def __len__(self) -> int:
        return len(self.words)

    @property
    def counts(self) -> Tensor:
        """[word]: how often each occurs."""
        return self.words.bincount(minlength=len(self.vectors))

    def among(self, words: Tensor) -> "WordStates":
        """The occurrences of these words [word] alone, which are numbered anew in this order."""
        numbers = torch.full((len(self.vectors),), -1).index_put((words,), torch.arange(len(words)))[
            self.words
        ]
        return WordStates(numbers[numbers >= 0], self.vectors[words], self.states[numbers >= 0], self.unit)

    def sample(self, most: int, seed: int) -> "WordStates":
        """At most so many occurrences, drawn without replacement; all words keep their numbers."""
        if len(self) <= most:
            return self
        draw = torch.randperm(len(self), generator=torch.Generator().manual_seed(seed))[:most].sort().values
        return WordStates(self.words[draw], self.vectors, self.states[draw], self.unit)


def word_states(model: Model, examples: Sequence[Example]) -> WordStates:
    """The texts' words by one forward pass a text.

    Of a model with weights of units, states and units are those that its pooler reads: what it retains of the word vectors is
    in them, and the state of a word is the mean of its pieces', as is its vector. Of other models they are the last layer's
    states, piece by piece. Special tokens are left out. Words are told apart by their pieces, as the model reads them.
    Raises `ModelCannot` for a model that shows no states, and for texts that it reads in windows.
    """
    if not model.capabilities & {"unit_weights", "hidden_states"}:
        raise ModelCannot(
            f"{model.name} shows no hidden states, of which mutual information is computed; give a network, or a model trained by "
            "pellucid."
        )
    rows = model.encode(examples).rows
    if any(row.windows for row in rows):
        raise ModelCannot(
            f"{model.name} reads some texts in windows, each with states of its own; give shorter texts."
        )
    collected: dict[int, tuple[list[tuple[int, ...]], Tensor, Tensor]] = {}
    unit = "piece"
    want = Want(hidden="unit_weights" not in model.capabilities)
    for pack in scheduler_for(model).packs_of(rows):
        trace = model.trace([rows[index] for index in pack], want)
        unit = "piece" if trace.units is None else trace.units.unit
        for number, index in enumerate(pack):
            collected[index] = _of_row(rows[index], trace, number)
    numbers: dict[tuple[int, ...], int] = {}
    vectors: list[Tensor] = []
    words: list[int] = []
    for index in range(len(rows)):
        for word, vector in zip(*collected[index][:2], strict=True):
            if word not in numbers:
                numbers[word] = len(vectors)
                vectors.append(vector)
            words.append(numbers[word])
    states = [collected[index][2] for index in range(len(rows))]
    return WordStates(torch.tensor(words), torch.stack(vectors), torch.cat(states), unit)


def _of_row(row: Row, trace: Trace, number: int) -> tuple[list[tuple[int, ...]], Tensor, Tensor]:
    """A row's words as tuples of ids, their vectors [word width] and states [word state width]."""
    units = trace.units
    pieces_of_words = _pieces_of_units(row, "piece" if units is None else units.unit)
    embeddings = trace.embeddings[number].detach().float().cpu()
    vectors = torch.stack([embeddings[pieces].mean(0) for pieces in pieces_of_words])
    if units is None:
        states = trace.hidden[-1][number, [pieces[0] for pieces in pieces_of_words]]
    else:
        states = units.states[number, units.runs[number] >= 0]
    words = [tuple(row.ids[piece] for piece in pieces) for pieces in pieces_of_words]
    return words, vectors, states.detach().float().cpu()


def _pieces_of_units(row: Row, unit: str) -> list[list[int]]:
    """[unit piece]: the numbers of each unit's pieces; a new word begins where the number of the word changes."""
    units: list[list[int]] = []
    before = SPECIAL
    for piece, (word, segment) in enumerate(zip(row.word_index, row.segments, strict=True)):
        if segment != SPECIAL:
            if unit == "piece" or word != before:
                units.append([])
            units[-1].append(piece)
        before = word
    return units
