"""Attacks on many texts at once: their questions share passes through the model, and each has its own budget."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

import numpy as np

from pellucid.attacks.attack_case import AttackCase, Attempt, Ending, ExplanationShift, Omission, edited_segments
from pellucid.attacks.attack_steps import AttackParts, Edits, Steps, Variant, attack_steps
from pellucid.results.explanation import Prediction
from pellucid.run.model import Model
from pellucid.run.predicting import single_predictions
from pellucid.run.scheduler import Scheduler, evaluate_rows
from pellucid.run.target import class_probabilities
from pellucid.text.example import Example

# What the model is asked about edited texts, and what the answers cost: its own answer, or an explanation with it.


@dataclass(frozen=True)
class Question:
    """The text of a case with these edits. most: queries that the answer may cost; None: any number. omission: what is
    asked in place of an edited text; None: nothing.
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
        batch = self.model.encode([question.example for question in questions if question.omission is None])
        edited = iter(batch.rows)
        rows = [next(edited) if question.omission is None else question.omission.row for question in questions]
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


Segments = tuple[str, ...]
AT_ONCE = 32  # attacks whose questions share passes


@dataclass(eq=False)
class RunningAttack:
    """One attack while it runs.

    steps: what asks. queries: so far, with those of the order's scores. most: queries at most, or None. known: answers
        by what was asked.
    pending: what waits for answers, each beside what its answer is known by. is_spent: the queries did not suffice for
    an answer. edits, ending: the result once it has ended.
    """

    case: AttackCase
    steps: Steps
    queries: int = 0
    most: int | None = None
    known: dict[Segments | Omission, np.ndarray] = field(default_factory=dict)
    pending: list[tuple[Segments | Omission, Variant]] = field(default_factory=list)
    edits: Edits = ()
    ending: Ending | None = None
    is_spent: bool = False
    _nearest: float = -np.inf

    @property
    def text(self) -> Segments:
        """The text with the edits of the result."""
        return self._edited(self.edits)

    @property
    def has_edited(self) -> bool:
        """Whether an edited text was asked, or would have been."""
        return any(not isinstance(key, Omission) for key in (*self.known, *(key for key, _ in self.pending)))

    def start(self) -> None:
        """Run up to the first questions."""
        self._advance(None)

    def questions(self, at_once: int | None = None) -> list[Question]:
        """What is to be asked now: each text once, as many as the budget and `at_once` allow."""
        left = None if self.most is None else max(0, self.most - self.queries)
        unknown: dict[Segments | Omission, Variant] = {}
        for key, variant in self.pending:
            if key not in self.known:
                unknown.setdefault(key, variant)
        return [self._question(variant, left) for variant in list(unknown.values())[:left][:at_once]]

    def receive(self, questions: Sequence[Question], replies: Sequence[Reply]) -> None:
        """Take the replies to `questions`; where all answers are there, run up to the next questions or to the end."""
        for question, reply in zip(questions, replies, strict=True):
            self.queries += reply.cost
            if reply.row is None:
                self.is_spent = True
            else:
                self.known[question.omission or self._edited(question.edits)] = reply.row
        if all(key in self.known for key, _ in self.pending):
            self._remember_nearest()
            self._advance(np.array([self.known[key] for key, _ in self.pending]))
        elif self.is_spent or (self.most is not None and self.queries >= self.most):
            self._remember_nearest()
            reached = self.ending is None and self._is_reached(self.edits)
            self.ending = "success" if reached else "budget"
            self.steps.close()

    def _advance(self, answers: np.ndarray | None) -> None:
        try:
            variants = self.steps.send(answers)  # type: ignore[arg-type]  # None starts a generator
            self.pending = [(self._key(variant), variant) for variant in variants]
        except StopIteration as end:
            self.edits, self.pending = end.value, []
            self.ending = "success" if self.edits and self._is_reached(self.edits) else "exhausted"

    def _remember_nearest(self) -> None:
        """Keep the edits whose answer is nearest to the goal, for the case that the budget ends."""
        waited = [(key, edits) for key, edits in self.pending if not isinstance(edits, Omission) and key in self.known]
        if not waited:
            return
        answers = np.array([self.known[key] for key, _ in waited])
        values = self.case.goal.nearness(answers) + 1e9 * self.case.goal.reached(answers)
        best = int(values.argmax())
        if values[best] > self._nearest:
            self._nearest, self.edits = float(values[best]), waited[best][1]

    def _is_reached(self, edits: Edits) -> bool:
        answer = self.known.get(self._edited(edits))
        return answer is not None and bool(self.case.goal.reached(answer[None])[0])

    def _question(self, variant: Variant, most: int | None) -> Question:
        if isinstance(variant, Omission):
            return Question(self.case, (), most, variant)
        return Question(self.case, variant, most)

    def _key(self, variant: Variant) -> Segments | Omission:
        """What an answer is known by: the edited text, whatever edits made it, or what was left out."""
        return variant if isinstance(variant, Omission) else self._edited(variant)

    def _edited(self, edits: Edits) -> Segments:
        return edited_segments(self.case.example.segments, edits)


def run_together(attacks: Sequence[RunningAttack], answers: TextAnswers, report: Callable[[int], None]) -> None:
    """Run all attacks to their ends. report: called with how many have ended."""
    waiting = list(range(len(attacks)))[::-1]
    active: list[int] = []
    while waiting or active:
        while waiting and len(active) < AT_ONCE:
            active.append(waiting.pop())
            attacks[active[-1]].start()
        active = [attack_index for attack_index in active if attacks[attack_index].ending is None]
        questions = {attack_index: attacks[attack_index].questions(answers.at_once) for attack_index in active}
        flat = [question for attack_index in active for question in questions[attack_index]]
        replies = iter(answers.replies(flat) if flat else ())
        for attack_index in active:
            attacks[attack_index].receive(questions[attack_index], list(islice(replies, len(questions[attack_index]))))
        active = [attack_index for attack_index in active if attacks[attack_index].ending is None]
        report(len(attacks) - len(waiting) - len(active))


# Attacks on many texts under one model: the questions, the answers, and a last call with each edited text alone.


@dataclass(frozen=True)
class AttemptNames:
    """attack, goal: with settings. about: the class that the goal names, or ""."""

    attack: str
    goal: str
    about: str


def attack_texts(
    model: Model,
    answers: TextAnswers,
    names: AttemptNames,
    parts: AttackParts,
    cases: Sequence[AttackCase],
    order_queries: Sequence[int],
    most: int | None,
    report: Callable[[int], None],
) -> list[Attempt]:
    """One attempt a case, in order.

    answers: how the model is asked. order_queries: what the scores of each case's order took. most: queries at most for
    each text, those of the order included; None: no limit. report: called with how many have ended.
    """
    running = [
        RunningAttack(case, attack_steps(case, parts), queries, most)
        for case, queries in zip(cases, order_queries, strict=True)
    ]
    run_together(running, answers, report)
    edited = [attack for attack in running if attack.edits]
    alone = single_predictions(model, [Example(attack.text) for attack in edited])
    ends = iter(zip(alone, _similarities(edited), strict=True))
    return [
        _attempt(answers, names, attack, *(next(ends) if attack.edits else (attack.case.answer, math.nan)))
        for attack in running
    ]


def _similarities(edited: Sequence[RunningAttack]) -> list[float]:
    """Of each text and its edited form; all cases have the same dictionaries."""
    pairs = [(attack.case.example.segments, attack.text) for attack in edited]
    return edited[0].case.dictionaries.similarities(pairs) if edited else []


def _attempt(
    answers: TextAnswers, names: AttemptNames, attack: RunningAttack, after: Prediction, similarity: float
) -> Attempt:
    """What became of an attack. after: the answer of a call with the edited text alone. similarity: of both texts."""
    case, ending, edits = attack.case, attack.ending, attack.edits
    assert ending is not None
    question = Question(case, edits)
    if ending == "success":
        row = answers.alone(question, after)
        ending = "success" if row is not None and case.goal.reached(row[None])[0] else "not confirmed"
    return Attempt(
        names.attack,
        case.example,
        edits,
        case.answer,
        after,
        attack.queries,
        sum(len(segment.split()) for segment in case.example.segments),
        similarity,
        _nothing_to_edit(attack, ending),
        names.goal,
        names.about,
        answers.shift(question) if edits else None,
    )


def _nothing_to_edit(attack: RunningAttack, ending: Ending) -> Ending:
    """The ending; an attack that asked nothing had nothing to edit."""
    return "nothing to edit" if ending == "exhausted" and not attack.has_edited else ending
