"""What the model is asked about edited texts, and what the answers cost: its own answer, or an explanation with it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pellucid.attacks.shared.attack_case import AttackCase, Omission
from pellucid.core.passes.edited_rows import evaluate_rows
from pellucid.core.passes.model import Model
from pellucid.core.passes.scheduler import Scheduler
from pellucid.core.passes.target import class_probabilities
from pellucid.core.results.attempt import ExplanationShift
from pellucid.core.results.prediction import Prediction
from pellucid.core.text.edits import Edit, edited_segments
from pellucid.core.text.example import Example

Edits = tuple[Edit, ...]


@dataclass(frozen=True)
class Question:
    """The text of a case with these edits. most: queries that the answer may cost; None: any number. omission: what is asked in place of an edited
    text; None: nothing.
    """

    case: AttackCase
    edits: Edits
    most: int | None = None
    omission: Omission | None = None

    @property
    def example(self) -> Example:
        """The edited text."""
        return Example(edited_segments(self.case.example.segments, self.edits))


@dataclass(frozen=True)
class Reply:
    """row: [number], what the goal reads; None where the queries did not suffice. cost: in queries."""

    row: np.ndarray | None
    cost: int


class TextAnswers(Protocol):
    """How a model is asked. at_once: how many texts of an attack it is asked together; None: any number."""

    @property
    def at_once(self) -> int | None:
        """1 where the cost of an answer is known only afterwards."""
        ...

    def replies(self, questions: Sequence[Question]) -> list[Reply]:
        """One reply a question, in order."""
        ...

    def alone(self, question: Question, after: Prediction) -> np.ndarray | None:
        """[number]: what the goal reads where the text is asked by itself; after: the model's answer to it alone."""
        ...

    def shift(self, question: Question) -> ExplanationShift | None:
        """How far the explanation of the edited text has moved; None where none is read."""
        ...


@dataclass(frozen=True)
class ModelAnswers:
    """The model's own answers: one query a text, many texts together. reads: "probabilities" or "logits"."""

    model: Model
    scheduler: Scheduler
    reads: str = "probabilities"
    at_once: int | None = None

    def replies(self, questions: Sequence[Question]) -> list[Reply]:
        """One query each."""
        batch = self.model.encode([one.example for one in questions if one.omission is None])
        edited = iter(batch.rows)
        rows = [next(edited) if one.omission is None else one.omission.row for one in questions]
        logits = evaluate_rows(self.model, self.scheduler, rows).double()
        answers = logits if self.reads == "logits" else class_probabilities(logits, self.model.problem)
        return [Reply(row, 1) for row in answers.numpy()]

    def alone(self, question: Question, after: Prediction) -> np.ndarray | None:
        """That of the single call."""
        return answer_row(after, self.reads)

    def shift(self, question: Question) -> ExplanationShift | None:
        """None: nothing is explained."""
        return None


def answer_row(answer: Prediction, reads: str) -> np.ndarray:
    """[number]: the probabilities or the logits of a prediction."""
    return np.array(answer.logits if reads == "logits" else answer.probabilities)
