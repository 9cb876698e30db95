"""One text that is attacked: what may be edited, what the model answers, and what the attack wants."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal, Protocol

import numpy as np

from pellucid.attacks.attempt import Edit
from pellucid.attacks.dictionaries import Dictionaries
from pellucid.results.explanation import Prediction
from pellucid.run.batch import Row
from pellucid.run.target import Problem, Target
from pellucid.text.example import Example
from pellucid.text.label_map import ON, label_names

# Which number of the model's answer an attack moves, and which way.


@dataclass(frozen=True)
class Aim:
    """target: what an order explains. way: whether the number shall fall, rise, or move either way."""

    target: Target
    way: Literal["down", "up", "either"]

    def column(self, answer: Prediction) -> int:
        """Which of the probabilities the target is, for a text with this answer."""
        of = self.target.of
        if isinstance(of, int):
            return of
        return answer.labels.index(answer.label if of == "predicted" else str(of))

    def first_edited(self, scores: np.ndarray) -> np.ndarray:
        """[unit] scores of the target -> [unit]: the same, with the units first that an attack should edit first."""
        if self.way == "either":
            return np.asarray(np.where(np.isfinite(scores), np.abs(scores), scores))
        return scores if self.way == "down" else np.asarray(np.where(np.isfinite(scores), -scores, scores))

    def gain(self, rise: float) -> float:
        """How far a rise of the number brings an answer nearer to the goal, to first order; minus infinity stays."""
        if not np.isfinite(rise):
            return rise
        return abs(rise) if self.way == "either" else (rise if self.way == "up" else -rise)


PREDICTED_FALLS = Aim(Target("predicted", "probability"), "down")


@dataclass(frozen=True)
class Place:
    """Characters [start, end) of a segment, which an edit may replace as a whole."""

    segment: int
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Omission:
    """A question beside edited texts: the text as it is, without the word of one unit. row: what the model reads
    then.
    """

    row: Row


class Goal(Protocol):
    """What an attack wants of the model's answer. answers: [text number], what the goal's registration says that it
    reads.
    """

    @property
    def aim(self) -> Aim:
        """Which number of the answer an order explains."""
        ...

    def nearness(self, answers: np.ndarray) -> np.ndarray:
        """[text]: how near each answer is to the goal, higher is nearer."""
        ...

    def reached(self, answers: np.ndarray) -> np.ndarray:
        """[text] bool: whether each answer is what the attack wants."""
        ...


@dataclass(frozen=True, eq=False)
class AttackCase:
    """units: what may be edited, in reading order. answer: the model's to the text as it is. scores: [unit] of the
    attribution method that the
    order reads, or None. omissions: for each unit what the model is asked to score it, where the order asks for its
    scores itself; None: the model reads nothing of the unit. first_order: (unit, replacement) -> by how much the answer
    should come nearer to the goal, judged by the gradient alone; None where the search does not read it. fillers: for
    each unit the words that the model's language head finds likeliest in its place, likeliest first; None where no
    candidate reads them. seed: the user's. start: [number], what the goal reads of the text as it is; None: the
    probabilities of the answer.
    """

    example: Example
    units: tuple[Place, ...]
    answer: Prediction
    goal: Goal
    dictionaries: Dictionaries
    scores: np.ndarray | None = None
    omissions: Sequence[Omission | None] | None = None
    seed: int = 0
    first_order: Callable[[int, str], float] | None = None
    fillers: Sequence[Sequence[str]] | None = None
    start: np.ndarray | None = None

    def edit(self, unit: int, replacement: str) -> Edit:
        """The edit that puts a replacement in the place of a unit."""
        place = self.units[unit]
        return Edit(place.segment, place.start, place.end, place.text, replacement)

    @property
    def text_of(self) -> Sequence[str]:
        """The segments as they are."""
        return self.example.segments

    @property
    def start_nearness(self) -> float:
        """How near the model's answer to the unedited text is to the goal."""
        start = np.array(self.answer.probabilities) if self.start is None else self.start
        return float(self.goal.nearness(start[None])[0])

    def generator(self, purpose: str) -> np.random.Generator:
        """Random draws that depend on the text, the seed and the purpose alone."""
        key = json.dumps([self.seed, purpose, list(self.example.segments)]).encode()
        return np.random.default_rng(int.from_bytes(blake2b(key, digest_size=8).digest(), "big"))


# In which order the units of a text are edited.


@dataclass(frozen=True)
class Ranking:
    """units: their numbers, first to edit first; units that are not listed stay. replacements: unit -> the only text to
    put in its place,
    where the order has already settled it.
    """

    units: tuple[int, ...]
    replacements: Mapping[int, str] = field(default_factory=dict)


def highest_first(scores: Sequence[float] | np.ndarray) -> Ranking:
    """Units by falling score; equal ones in reading order."""
    return Ranking(tuple(sorted(range(len(scores)), key=lambda unit: (-float(scores[unit]), unit))))


# Which texts are attacked: those that the model answers right, or whose right answer is not known.


def is_right(label: str | None, answer: Prediction, problem: Problem, about: str = "") -> bool:
    """Whether an answer is the label; True where the label says nothing of the model's classes, as for one that answers
    with a value.

    about: where a text can have several labels, the only one that counts; "": all.
    """
    if problem != "multi_label":
        return problem == "regression" or label not in answer.labels or label == answer.label
    names = set(label_names(label, True))
    if label is None or not names <= set(answer.labels):
        return True
    return all(
        (name in names) == (chance >= ON)
        for name, chance in zip(answer.labels, answer.probabilities, strict=True)
        if about in ("", name)
    )
