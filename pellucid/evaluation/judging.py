"""Judging: methods x metrics on the same examples, each number with its interval and distance from chance."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.core.batch import Batch
from pellucid.core.case import Case, Judged
from pellucid.core.catalogue import Call
from pellucid.core.errors import BadInput, BadSetting
from pellucid.core.explanation import Explanation
from pellucid.core.model import Model
from pellucid.core.progress import Progress
from pellucid.core.scheduler import Scheduler
from pellucid.core.table import CHANCE, Cell, Curve, Table
from pellucid.evaluation.caveats import caveats
from pellucid.evaluation.metric_calls import metric_calls
from pellucid.evaluation.summary import (
    bootstrap_interval,
    combined,
    curve_intervals,
    judged_rows,
    paired_difference,
)

__all__ = ["judge", "metric_calls"]

REMEMBERED = 200_000  # answers that the scheduler keeps between metrics, about 100 MB


@dataclass(frozen=True)
class Answer:
    """One metric's values for one method, averaged over draws; spread: the draws' standard deviation."""

    judged: Judged
    spread: float | None


def judge(
    model: Model,
    batch: Batch,
    explanations: Mapping[str, Sequence[Explanation]],
    calls: Sequence[Call],
    scheduler: Scheduler,
    progress: Progress,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Table:
    """Judge every method (title -> one explanation an example of the batch) by every metric.

    Several draws of a random method are judged one by one and averaged. A method titled chance, if there is
    one, is what the others are compared with. Metrics that need marked evidence are left out when no example
    has any.
    """
    _check(batch, explanations)
    has_marks = any(example.rationales for example in batch.examples)
    possible = [call for call in calls if has_marks or "rationales" not in call.entry.facts["needs"]]
    left_out = [call for call in calls if call not in possible]
    before = scheduler.rows_run, scheduler.tokens_run
    answers = _answers(model, batch, explanations, possible, scheduler, progress)
    chance = next((title for title in explanations if title.partition("(")[0] == CHANCE), None)
    pairs = [(method, call) for method in explanations for call in possible]
    told = {"resamples": resamples, "seed": seed}
    cells = (_cell(method, call, answers, chance, told) for method, call in pairs)
    curves = (_curve(method, call.title, answers[method, call.title].judged, told) for method, call in pairs)
    about = _about(model, batch, explanations) | told
    about |= {"rows": scheduler.rows_run - before[0], "tokens": scheduler.tokens_run - before[1]}
    due = caveats(possible, left_out, batch.examples, chance is not None)
    return Table(tuple(cells), tuple(curve for curve in curves if curve is not None), about, due)


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


def _answers(
    model: Model,
    batch: Batch,
    explanations: Mapping[str, Sequence[Explanation]],
    calls: Sequence[Call],
    scheduler: Scheduler,
    progress: Progress,
) -> dict[tuple[str, str], Answer]:
    """For each method's title and metric's title, the values."""
    draws = {title: _draws(found) for title, found in explanations.items()}
    total, done = sum(map(len, draws.values())) * len(calls), 0
    answers: dict[tuple[str, str], Answer] = {}
    for title, found in draws.items():
        values: dict[str, list[Judged]] = {call.title: [] for call in calls}
        for draw in found:
            case = Case(model, batch, draw, scheduler)
            for call in calls:
                values[call.title].append(call(case))
                done += 1
                progress("judging", done, total)
            if len(scheduler.known) > REMEMBERED:
                scheduler.forget()
        answers |= {(title, metric): _averaged(judged) for metric, judged in values.items()}
    return answers


def _draws(found: Sequence[Explanation]) -> list[list[Explanation]]:
    """[draw example]: explanations of one row of scores each."""
    labels = found[0].rows[0][1] if found[0].rows else ()
    return [[explanation.row(label) for explanation in found] for label in labels] or [list(found)]


def _averaged(draws: Sequence[Judged]) -> Answer:
    first = draws[0]
    curves = [judged.curve for judged in draws if judged.curve is not None]
    curve = np.mean(curves, axis=0) if curves else None
    judged = Judged(np.mean([judged.columns for judged in draws], axis=0), first.combine, curve, first.grid)
    numbers = [combined(judged.columns, judged.combine) for judged in draws]
    return Answer(judged, float(np.std(numbers, ddof=1)) if len(numbers) > 1 else None)


def _cell(
    method: str,
    call: Call,
    answers: Mapping[tuple[str, str], Answer],
    chance: str | None,
    told: Mapping[str, int],
) -> Cell:
    answer = answers[method, call.title]
    columns, combine = answer.judged.columns, answer.judged.combine
    over = None
    if chance is not None and method != chance:
        over = paired_difference(columns, answers[chance, call.title].judged.columns, combine, **told)
    return Cell(
        method=method,
        metric=call.title,
        value=bootstrap_interval(columns, combine, **told),
        n=len(judged_rows(columns)),
        better=call.entry.facts["better"],
        over_chance=over,
        spread=answer.spread,
        settings=json.loads(json.dumps(dict(call.settings))),
    )


def _curve(method: str, metric: str, judged: Judged, told: Mapping[str, int]) -> Curve | None:
    if judged.curve is None or judged.grid is None:
        return None
    lines = (tuple(line.tolist()) for line in (judged.grid, *curve_intervals(judged, **told)))
    return Curve(method, metric, *lines)


def _about(model: Model, batch: Batch, explanations: Mapping[str, Sequence[Explanation]]) -> dict[str, Any]:
    return {
        "model": model.name,
        "model_hash": model.hash,
        "examples": len(batch),
        "target": _target(next(iter(explanations.values()))),
        "methods": {title: dict(found[0].settings) for title, found in explanations.items()},
    }


def _target(found: Sequence[Explanation]) -> str:
    """What was explained, in words: "logit of the predicted class"."""
    labels = [explanation.target.label for explanation in found]
    against = {explanation.target.against for explanation in found if explanation.target.against is not None}
    if labels == [explanation.prediction.label for explanation in found]:
        which = "the predicted class"
    elif labels == [explanation.example.label for explanation in found]:
        which = "the gold class"
    else:
        which = ", ".join(sorted(set(labels)))
    return f"{found[0].target.output} of {which}" + (
        f" against {', '.join(sorted(against))}" if against else ""
    )
