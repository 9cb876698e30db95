"""One text that is attacked: what may be edited, what the model answers, what the attack wants, and what it did."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from typing import Literal, Protocol, get_args

import numpy as np

from pellucid.attacks.dictionaries import Dictionaries
from pellucid.results.explanation import Prediction
from pellucid.run.batch import Row
from pellucid.run.target import Problem, Target
from pellucid.text.example import Example
from pellucid.text.label_map import ON, label_names


@dataclass(frozen=True, order=True)
class Edit:
    """Characters [start, end) of a segment of the original, `before`, become `after`; after may be empty."""

    segment: int
    start: int
    end: int
    before: str
    after: str

    def overlaps(self, edit: "Edit") -> bool:
        """Whether both change a common character, or insert at one place."""
        same_place = (self.segment, self.start, self.end) == (edit.segment, edit.start, edit.end)
        return self.segment == edit.segment and (same_place or (self.start < edit.end and edit.start < self.end))


def edited_segments(segments: Sequence[str], edits: Iterable[Edit]) -> tuple[str, ...]:
    """The texts with the edits made; everything else stays byte for byte. Edits must not overlap."""
    result = list(segments)
    for edit in sorted(edits, reverse=True):  # from the end, so that offsets of earlier edits stay right
        text = result[edit.segment]
        result[edit.segment] = text[: edit.start] + edit.after + text[edit.end :]
    return tuple(result)


Ending = Literal["success", "exhausted", "budget", "wrong before", "reached before", "nothing to edit", "not confirmed"]
ENDINGS = get_args(Ending)


@dataclass(frozen=True)
class ExplanationShift:
    """How far an explanation moved under edits, over the words that stand in both texts.

    tau: Kendall's tau-b of their scores, overlap: the share of the top words that are the same; nan where nothing can
        be ranked (`math.nan`). before,
    after: the top words of either text, highest first.
    """

    tau: float
    overlap: float
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True)
class Attempt:
    """One text under one attack.

    attack: its name with settings. example: the text as it was. edits: at places of that text, in the order in which
        they were made. before: the model's answer to it.
    after: its answer to the edited text, from a call with that text alone. queries: edited texts that the model was
    asked, and passes that the order took. n_words: words of the text. similarity: of both texts' meanings, -1 to 1, or
    nan where it was not measured (`math.nan`, so that equal attempts are equal). ending: "success", "exhausted"
    (everything was tried), "budget" (no query was left), "wrong before" (the answer was wrong, so the text was not
    attacked), "reached before" (it was what the goal wants, so neither), "nothing to edit", or "not confirmed" (alone,
    the model answers otherwise). goal: its name with settings. about: the class that the goal names, or "". shift: of
    goals that judge explanations, how far that of the edited text moved. unread: (segment, start, end) of the words of
    the text that the model cannot read.
    """

    attack: str
    example: Example
    edits: tuple[Edit, ...]
    before: Prediction
    after: Prediction
    queries: int
    n_words: int
    similarity: float
    ending: Ending
    goal: str = "flip"
    about: str = ""
    shift: ExplanationShift | None = None
    unread: tuple[tuple[int, int, int], ...] = ()

    @property
    def is_labelled(self) -> bool:
        """Whether the text's label is one of the model's classes, or, where it can have several, names such classes
        alone.
        """
        names = label_names(self.example.label, self.before.gives_several)
        return self.example.label is not None and set(names) <= set(self.before.labels)

    @property
    def is_success(self) -> bool:
        """Whether the attack reached its goal."""
        return self.ending == "success"

    @property
    def is_attacked(self) -> bool:
        """Whether the text was attacked at all: the model's answer to it was right, and not what the goal wants."""
        return self.ending not in ("wrong before", "reached before")

    @property
    def keeps_answer(self) -> bool:
        """Whether the edited text is answered as the text was: with the same class, or, of several labels, with the
        same one that the goal names.
        """
        if self.goal.startswith("label("):
            return not self.is_success
        return self.after.label == self.before.label

    @property
    def segments(self) -> tuple[str, ...]:
        """The text, or both texts of a pair, with the edits made."""
        return edited_segments(self.example.segments, self.edits)

    @property
    def share_edited(self) -> float:
        """The share of the text's words that lie in an edit, 0 to 1."""
        changed = sum(max(1, len(edit.before.split())) for edit in self.edits)
        return min(1.0, changed / self.n_words) if self.n_words else 0.0

    def record(self) -> dict[str, object]:
        """Plain values: the text before and after, both answers, edits, and what they cost."""
        return {
            "attack": self.attack,
            "id": self.example.id,
            "label": self.example.label,
            "before": list(self.example.segments),
            "after": list(self.segments),
            "answer_before": self.before.label,
            "answer_after": self.after.label,
            "probability_before": self.before.probability,
            "probability_after": self.after.probability,
            "edits": [
                {
                    "segment": edit.segment,
                    "start": edit.start,
                    "end": edit.end,
                    "before": edit.before,
                    "after": edit.after,
                }
                for edit in self.edits
            ],
            "queries": self.queries,
            "share_edited": self.share_edited,
            "similarity": self.similarity,
            "ending": self.ending,
            "goal": self.goal,
            "logits_before": list(self.before.logits),
            "logits_after": list(self.after.logits),
            "shift": None if self.shift is None else asdict(self.shift),
        }


# Which number of the model's answer an attack moves, and which way.


@dataclass(frozen=True)
class Aim:
    """target: what an order explains. way: whether the number shall fall, rise, or move either way."""

    target: Target
    way: Literal["down", "up", "either"]

    def column(self, answer: Prediction) -> int:
        """Which of the probabilities the target is, for a text with this answer."""
        target_class = self.target.of
        if isinstance(target_class, int):
            return target_class
        return answer.labels.index(answer.label if target_class == "predicted" else str(target_class))

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
    attribution method that the order reads, or None. omissions: for each unit what the model is asked to score it,
    where the order asks for its scores itself; None: the model reads nothing of the unit. first_order: (unit,
    replacement) -> by how much the answer should come nearer to the goal, judged by the gradient alone; None where the
    search does not read it. fillers: for each unit the words that the model's language head finds likeliest in its
    place, likeliest first; None where no candidate reads them. seed: the user's. start: [number], what the goal reads
    of the text as it is; None: the probabilities of the answer.
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
    put in its place, where the order has already settled it.
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
