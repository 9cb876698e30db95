"""The activation of a learnt concept as a target: which words carry this concept?

A concept is read from the states of a text's words, so the answer of any attribution method tells which words of the
text put it there: those words themselves, and words around them that the model has mixed into their states.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor

from pellucid.base.checks import quoted
from pellucid.base.errors import BadFile, ModelCannot
from pellucid.base.json_text import json_digest
from pellucid.discovery.dictionaries import Dictionary
from pellucid.discovery.states import Level
from pellucid.results.explanation import Explained
from pellucid.run.batch import Batch, Row
from pellucid.run.hidden_target import StateTarget
from pellucid.run.model import Model
from pellucid.run.rounding import widened
from pellucid.run.trace import Trace, Want
from pellucid.text.units import SPECIAL

Over = Literal["sum", "largest"]
OVERS = get_args(Over)
STATES = "hidden state: "  # what scores explain; `drawing` knows states by this beginning
STATE = f"{STATES}activation"


@dataclass(frozen=True, eq=False)
class ConceptReadout:
    """The activation of a concept in a row: the sum over its words, or the largest; 0 where no word is left.

    concept: its index in the dictionary. level: what has a state, a word, a piece or the whole text. over: how the
    activations of a text are made one number. Concepts by least squares, or above a threshold, are read as long as the
    same ones are active; of groups, whose activation is a step from 0 to 1, the way from the mean of all states to the
    group's centre is read.
    """

    layer: int
    level: Level
    dictionary: Dictionary
    concept: int
    over: Over

    @property
    def want(self) -> Want:
        """Hidden states up to the layer; blocks above it do not run."""
        return Want(hidden=True, deepest=self.layer)

    @property
    def key(self) -> bytes:
        """A digest of the direction and of how it is read."""
        parts = (self.dictionary.atoms, self.dictionary.offset, self.dictionary.encoder)
        arrays = [np.ascontiguousarray(part).tobytes().hex() for part in parts]
        return json_digest([arrays, self.dictionary.encoding, self.layer, self.level, self.concept, self.over]).encode()

    def answers(self, trace: Trace, rows: Sequence[Row]) -> Tensor:
        """[row 1]: the activation."""
        return self.answers_from(self.origin(trace, rows), trace, rows)

    def origin(self, trace: Trace, rows: Sequence[Row]) -> Tensor:
        """[row 1]: what states add to the activation, without the constant of each word."""
        states = widened(trace.hidden[self.layer])
        units = [_units(row, self.level) for row in rows]
        row_of = torch.tensor([row for row, of_row in enumerate(units) for _ in of_row], dtype=torch.long)
        row_of = row_of.to(states.device)
        means = self._means(states, units)
        read = (self._in_parts(means) * self._weights(means)).sum(-1)
        total = states.new_zeros(len(rows))
        if self.over == "sum":
            return total.index_add(0, row_of, read)[:, None]
        return total.scatter_reduce(0, row_of, read, "amax", include_self=False)[:, None]

    def answers_from(self, origin: Tensor, trace: Trace, rows: Sequence[Row]) -> Tensor:
        """[row 1]: the same with the constant of each word that counts."""
        counts = [len(_units(row, self.level)) for row in rows]
        counts = [min(count, 1) for count in counts] if self.over == "largest" else counts
        return origin - self._constant * torch.tensor(counts).to(origin)[:, None]

    def _means(self, states: Tensor, units: Sequence[Sequence[Sequence[int]]]) -> Tensor:
        """[unit width]: the mean state over the pieces of each unit of all rows."""
        numbers = ((row, piece) for row, of_row in enumerate(units) for unit in of_row for piece in unit)
        index = torch.tensor([*numbers], dtype=torch.long, device=states.device).reshape(-1, 2)
        sizes = torch.tensor([len(unit) for of_row in units for unit in of_row], dtype=torch.long).to(states.device)
        unit_of = torch.arange(len(sizes), device=states.device).repeat_interleave(sizes)
        sums = states.new_zeros(len(sizes), states.shape[-1]).index_add(0, unit_of, states[index[:, 0], index[:, 1]])
        return sums / sizes[:, None]

    def _in_parts(self, means: Tensor) -> Tensor:
        """[unit number]: what is read of a state, such as its positive and negative parts."""
        if self.dictionary.encoding in ("top", "above"):  # only active concepts count, each with its constant
            return means - torch.from_numpy(self.dictionary.offset).to(means)
        return torch.cat([means.relu(), (-means).relu()], -1) if self.dictionary.encoding == "parts" else means

    def _weights(self, means: Tensor) -> Tensor:
        """[unit number], without a graph: by what each number is multiplied."""
        dictionary, concept = self.dictionary, self.concept
        if dictionary.encoding in ("nonnegative", "parts"):
            return torch.from_numpy(dictionary.part_weights(means.detach().cpu().double().numpy(), concept)).to(means)
        if dictionary.encoding in ("top", "above"):
            active = dictionary.activations(means.detach().cpu().double().numpy())[:, concept, None] > 0
            return torch.from_numpy(active * self._direction).to(means)
        return torch.from_numpy(self._direction).to(means)

    @property
    def _direction(self) -> np.ndarray:
        """[width]: by what a state's numbers are multiplied."""
        atom = self.dictionary.atoms[self.concept].astype(np.float64)
        if self.dictionary.encoding == "nearest":
            return atom / max(float(atom @ atom), np.finfo(float).tiny)
        return self.dictionary.encoder[self.concept].astype(np.float64)

    @property
    def _constant(self) -> float:
        """What is taken off for each word: the activation of a state without any concept."""
        if self.dictionary.encoding in ("nonnegative", "parts", "top", "above"):
            return 0.0
        return float(self.dictionary.offset.astype(np.float64) @ self._direction)


def _units(row: Row, level: Level) -> list[list[int]]:
    """The numbers of the pieces of each word, of each piece, or of the text, without special tokens."""
    pieces = [piece for piece, segment in enumerate(row.segments) if segment != SPECIAL]
    if level == "piece":
        return [[piece] for piece in pieces]
    if level == "text":
        return [pieces] if pieces else []
    words: dict[tuple[int, int], list[int]] = {}
    for piece in pieces:
        words.setdefault((row.segments[piece], row.word_index[piece]), []).append(piece)
    return list(words.values())


@dataclass(frozen=True, eq=False)
class ConceptTarget(StateTarget):
    """The activation of one concept, as a target; `LearntConcepts.target` makes it.

    title: the concept's number and name. model, model_hash: what it is a concept of. readout: how it is read.
    """

    title: str
    model: str
    model_hash: str
    readout: ConceptReadout

    def __repr__(self) -> str:
        read = self.readout
        return f"ConceptTarget({self.title!r}, layer {read.layer}, {read.over}, {read.key.decode()})"

    def check(self, model: Model, batch: Batch) -> None:
        """Raises `ModelCannot` where the model shows no states, `BadFile` for another model than the concept's."""
        if "hidden_states" not in model.capabilities:
            raise ModelCannot(f"{model.name} shows no hidden states; explain one of its classes.")
        if model.hash != self.model_hash:
            raise BadFile(
                f"Concept {quoted(self.title)} is of {self.model} with other weights than {model.name}; find concepts "
                f"of this model: pellucid concepts find MODEL DATA --layer {self.readout.layer} --out FOLDER."
            )

    def in_model(self, model: Model) -> "ConceptTarget":
        """The same."""
        return self

    def rows_read(self, windows: Batch) -> list[int]:
        """All rows: each has words."""
        return list(range(len(windows)))

    def readout_in(self, model: Model) -> ConceptReadout:
        """Reads the activation off a pass."""
        return self.readout

    def resolve(self, answers: Tensor, model: Model) -> "ResolvedConcept":
        """The target of a batch; nothing of it depends on the texts."""
        return ResolvedConcept(self.title, self.readout)


@dataclass(frozen=True, eq=False)
class ResolvedConcept:
    """A concept's activation as methods see it: one number for every answer [1]."""

    title: str
    readout: ConceptReadout

    def values(self, answers: Tensor) -> Tensor:
        """[example 1] -> [example]: the activations."""
        return answers[:, 0]

    def values_of(self, example: int, answers: Tensor) -> Tensor:
        """[variant 1] -> [variant]: the same for variants of one example."""
        return answers[:, 0]

    def select(self, indices: Sequence[int]) -> "ResolvedConcept":
        """The target of these examples, which is the same."""
        return self

    def pieces_read(self, rows: Sequence[Row]) -> None:
        """Those that the head reads: a concept's own words are not where the model decides."""
        return

    def explained(self, example: int, answer: Tensor, labels: Sequence[str]) -> Explained:
        """The activation with the concept's name; answer: the example's own [1]."""
        output = STATE if self.readout.over == "sum" else f"{STATES}largest activation"
        return Explained(f"concept {self.title}", None, output, float(answer[0]))
