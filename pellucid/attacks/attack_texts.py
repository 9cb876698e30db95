"""Attacks on many texts under one model: the questions, the answers, and a last call with each edited text alone."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pellucid.attacks.attack_case import AttackCase
from pellucid.attacks.attack_steps import AttackParts, attack_steps
from pellucid.attacks.attempt import Attempt, Ending
from pellucid.attacks.questions import Question, RunningAttack, TextAnswers, run_together
from pellucid.results.prediction import Prediction
from pellucid.run.model import Model
from pellucid.run.predicting import single_predictions
from pellucid.text.example import Example


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

    answers: how the model is asked. order_queries: what the scores of each case's order took. most: queries at most for each text, those of the
    order included; None: no limit. report: called with how many have ended.
    """
    running = [
        RunningAttack(case, attack_steps(case, parts), queries, most)
        for case, queries in zip(cases, order_queries, strict=True)
    ]
    run_together(running, answers, report)
    edited = [one for one in running if one.edits]
    alone = single_predictions(model, [Example(one.text) for one in edited])
    ends = iter(zip(alone, _similarities(edited), strict=True))
    return [
        _attempt(answers, names, one, *(next(ends) if one.edits else (one.case.answer, math.nan)))
        for one in running
    ]


def _similarities(edited: Sequence[RunningAttack]) -> list[float]:
    """Of each text and its edited form; all cases have the same dictionaries."""
    pairs = [(one.case.example.segments, one.text) for one in edited]
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
