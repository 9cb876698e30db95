"""What an attack did to one text: its edits, the answers to them, and what became of the explanation."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Literal, get_args

from pellucid.results.explanation import Prediction
from pellucid.text.example import Example
from pellucid.text.label_map import label_names


@dataclass(frozen=True, order=True)
class Edit:
    """Characters [start, end) of a segment of the original, `before`, become `after`; after may be empty."""

    segment: int
    start: int
    end: int
    before: str
    after: str

    def overlaps(self, other: "Edit") -> bool:
        """Whether both change a common character, or insert at one place."""
        same_place = (self.segment, self.start, self.end) == (other.segment, other.start, other.end)
        return self.segment == other.segment and (same_place or (self.start < other.end and other.start < self.end))


def edited_segments(segments: Sequence[str], edits: Iterable[Edit]) -> tuple[str, ...]:
    """The texts with the edits made; everything else stays byte for byte. Edits must not overlap."""
    result = list(segments)
    for edit in sorted(edits, reverse=True):  # from the end, so that offsets of earlier edits stay right
        text = result[edit.segment]
        result[edit.segment] = text[: edit.start] + edit.after + text[edit.end :]
    return tuple(result)


# What an attack did to one text.


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
    goals that judge explanations, how far that of the edited text moved.
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
                    "segment": one.segment,
                    "start": one.start,
                    "end": one.end,
                    "before": one.before,
                    "after": one.after,
                }
                for one in self.edits
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
