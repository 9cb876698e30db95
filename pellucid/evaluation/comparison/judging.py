"""Judging: methods x metrics on the same examples, value by value."""

from collections.abc import Mapping, Sequence

import numpy as np

from pellucid.core.foundation.errors import BadInput, BadSetting
from pellucid.core.foundation.progress import Progress
from pellucid.core.passes.batch import Batch
from pellucid.core.passes.scheduler import Scheduler
from pellucid.core.results.explanation import Explanation
from pellucid.evaluation.comparison.comparison import Comparison
from pellucid.evaluation.comparison.judged_part import Answer, JudgedPart
from pellucid.evaluation.shared.case import Case, Judged

REMEMBERED = 200_000  # answers that the scheduler keeps between metrics, about 100 MB


def judge_part(
    comparison: Comparison,
    batch: Batch,
    explanations: Mapping[str, Sequence[Explanation]],
    scheduler: Scheduler,
    progress: Progress,
) -> JudgedPart:
    """Judge every method (title -> one explanation an example of the batch) by every metric.

    Several draws of a random method are judged one by one. Raises `BadInput` or `BadSetting` for explanations that
    cannot be judged.
    """
    _check(batch, explanations)
    before = scheduler.rows_run, scheduler.tokens_run
    draws = {title: _draws(found) for title, found in explanations.items()}
    total, done = sum(map(len, draws.values())) * len(comparison.metrics), 0
    answers: dict[tuple[str, str], Answer] = {}
    for title, found in draws.items():
        values: dict[str, list[Judged]] = {call.title: [] for call in comparison.metrics}
        for draw in found:
            case = Case(comparison.request.model, batch, draw, scheduler, comparison.marked_share)
            for call in comparison.metrics:
                values[call.title].append(call(case))
                done += 1
                progress("judging", done, total)
            if len(scheduler.known) > REMEMBERED:
                scheduler.forget()
        answers |= {(title, metric): _together(judged) for metric, judged in values.items()}
    return JudgedPart(answers, scheduler.rows_run - before[0], scheduler.tokens_run - before[1])


def _check(batch: Batch, explanations: Mapping[str, Sequence[Explanation]]) -> None:
    if not len(batch) or not explanations:
        raise BadInput("There is nothing to judge: give at least one example and one method's explanations.")
    for title, found in explanations.items():
        if [explanation.example for explanation in found] != list(batch.examples):
            raise BadInput(
                f"The explanations of {title} are not those of the batch's examples, one each, in order."
            )
        kinds = [kind for kind, _ in found[0].rows]
        if kinds not in ([], ["draw"]):
            raise BadSetting(
                f"{title} has several rows of scores ({', '.join(kinds)}), and only draws can be averaged. "
                "Choose a row of every explanation with .row(label)."
            )


def _draws(found: Sequence[Explanation]) -> list[list[Explanation]]:
    """[draw example]: explanations of one row of scores each."""
    labels = found[0].rows[0][1] if found[0].rows else ()
    return [[explanation.row(label) for explanation in found] for label in labels] or [list(found)]


def _together(draws: Sequence[Judged]) -> Answer:
    """One metric's answers to every draw; of the curves, which are only drawn, the mean is enough."""
    curves = [judged.curve for judged in draws if judged.curve is not None]
    return Answer(
        np.array([judged.columns for judged in draws], dtype=float),
        draws[0].combine,
        np.mean(curves, axis=0) if curves else None,
        draws[0].grid,
    )
