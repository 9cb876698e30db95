"""Attacks on many texts under one model: the questions, the answers, and a last call with each edited text alone."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from pellucid.attacks.shared.attack_case import AttackCase
from pellucid.attacks.shared.attack_steps import AttackParts, attack_steps
from pellucid.attacks.shared.questions import RunningAttack, Segments, run_together
from pellucid.core.explaining.predicting import predictions
from pellucid.core.passes.edited_rows import evaluate_rows
from pellucid.core.passes.model import Model
from pellucid.core.passes.scheduler import Scheduler
from pellucid.core.passes.target import class_probabilities
from pellucid.core.results.attempt import Attempt, Ending
from pellucid.core.text.example import Example


def attack_texts(
    model: Model,
    scheduler: Scheduler,
    name: str,
    parts: AttackParts,
    cases: Sequence[AttackCase],
    order_queries: Sequence[int],
    most: int | None,
    report: Callable[[int], None],
) -> list[Attempt]:
    """One attempt a case, in order.

    name: the attack's, with settings. order_queries: what the scores of each case's order took. most: queries at most for each text, those of the
    order included; None: no limit. report: called with how many have ended.
    """
    running = [
        RunningAttack(case, attack_steps(case, parts), queries, most)
        for case, queries in zip(cases, order_queries, strict=True)
    ]

    def ask(texts: list[tuple[int, Segments]]) -> np.ndarray:
        return _answers(model, scheduler, [segments for _, segments in texts])

    run_together(running, ask, report)
    return [_attempt(model, name, one) for one in running]


def _answers(model: Model, scheduler: Scheduler, texts: Sequence[Segments]) -> np.ndarray:
    """[text class]: the model's probabilities for edited texts."""
    batch = model.encode([Example(segments) for segments in texts])
    logits = evaluate_rows(model, scheduler, batch.rows).double()
    return class_probabilities(logits, model.problem).numpy()


def _attempt(model: Model, name: str, attack: RunningAttack) -> Attempt:
    """What became of an attack. The answer to the edited text is that of a call with this text alone."""
    case, ending = attack.case, attack.ending
    assert ending is not None
    after = case.answer
    edits = attack.edits
    if edits:
        (after,) = predictions(model, [Example(attack.text)])
        if ending == "success" and not case.goal.reached(np.array([after.probabilities]))[0]:
            ending = "not confirmed"
    return Attempt(
        name,
        case.example,
        edits,
        case.answer,
        after,
        attack.queries,
        sum(len(segment.split()) for segment in case.example.segments),
        case.dictionaries.similarity(case.example.segments, attack.text) if edits else math.nan,
        _nothing_to_edit(attack, ending),
    )


def _nothing_to_edit(attack: RunningAttack, ending: Ending) -> Ending:
    """The ending; an attack that asked nothing had nothing to edit."""
    return "nothing to edit" if ending == "exhausted" and not attack.known else ending
