"""One part of a comparison: every method explains its examples, and every metric judges the explanations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pellucid.core.explaining.explaining import explain_batch
from pellucid.core.foundation.errors import BadInput, BadSetting
from pellucid.core.foundation.progress import Progress
from pellucid.core.passes.batch import Batch
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.passes.scheduler import Scheduler
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.heaviest_spans import heaviest_spans
from pellucid.core.text.units import Spans
from pellucid.evaluation.comparison.comparison import Comparison
from pellucid.evaluation.comparison.judged_part import JudgedPart
from pellucid.evaluation.shared.case import Case, Judged
from pellucid.evaluation.shared.metric_values import MetricValues

STAGE = "comparing"
REMEMBERED = 200_000  # logits that the scheduler remembers between metrics, about 100 MB


@dataclass(frozen=True)
class ComparedPart:
    """explanations: method's title -> one an example. judged: the metrics' values for them."""

    explanations: Mapping[str, Sequence[Explanation]]
    judged: JudgedPart


def compared_part(comparison: Comparison, number: int, progress: Progress) -> ComparedPart:
    """Explain and judge the examples of one part. The result does not depend on which parts were computed before."""
    within_part = _progress_of_part(comparison, number, progress)
    model = comparison.request.model
    batch = model.encode([comparison.examples[index] for index in comparison.part(number)])
    scheduler = scheduler_for(model)
    explanations = explain_batch(comparison.request, batch, scheduler, within_part)
    judged = judge_part(comparison, batch, explanations, scheduler, within_part)
    of_spans = [one_each for one_each in explanations.values() if isinstance(one_each[0].units, Spans)]
    if of_spans:  # span weights are the model's own, so any of these methods has the same
        judged = replace(judged, heaviest=heaviest_spans(of_spans[0]))
    return ComparedPart(explanations, judged)


def judged_part_of(
    comparison: Comparison, number: int, explanations: Mapping[str, Sequence[Explanation]], progress: Progress
) -> JudgedPart:
    """Judge explanations that one part already has."""
    batch = comparison.request.model.encode([comparison.examples[index] for index in comparison.part(number)])
    within_part = _progress_of_part(comparison, number, progress)
    return judge_part(comparison, batch, explanations, scheduler_for(comparison.request.model), within_part)


def _progress_of_part(comparison: Comparison, number: int, progress: Progress) -> Progress:
    """Turns progress within one part into progress over all examples: half of a part is explaining, half judging."""
    part, total = comparison.part(number), len(comparison.examples)

    def within_part(stage: str, done: int, of: int) -> None:
        halves = done / of + (stage == "judging")
        progress(STAGE, part.start + int(len(part) * halves / 2), total)

    return within_part


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
    rows_before, tokens_before = scheduler.rows_run, scheduler.tokens_run
    draws = {title: _draws(one_each) for title, one_each in explanations.items()}
    total, done = sum(map(len, draws.values())) * len(comparison.metrics), 0
    values: dict[tuple[str, str], MetricValues] = {}
    for title, draws_of_method in draws.items():
        by_metric: dict[str, list[Judged]] = {call.title: [] for call in comparison.metrics}
        for draw in draws_of_method:
            case = Case(comparison.request.model, batch, draw, scheduler, comparison.marked_share)
            for call in comparison.metrics:
                by_metric[call.title].append(call(case))
                done += 1
                progress("judging", done, total)
            if len(scheduler.known) > REMEMBERED:
                scheduler.forget()
        values |= {(title, metric): _together(judged) for metric, judged in by_metric.items()}
    return JudgedPart(values, scheduler.rows_run - rows_before, scheduler.tokens_run - tokens_before)


def _check(batch: Batch, explanations: Mapping[str, Sequence[Explanation]]) -> None:
    if not len(batch) or not explanations:
        raise BadInput("There is nothing to judge: give at least one example and one method's explanations.")
    for title, one_each in explanations.items():
        if [explanation.example for explanation in one_each] != list(batch.examples):
            raise BadInput(
                f"The explanations of {title} are not those of the batch's examples, one each, in order."
            )
        kinds = [kind for kind, _ in one_each[0].rows]
        if kinds not in ([], ["draw"]):
            raise BadSetting(
                f"{title} has several rows of scores ({', '.join(kinds)}), and only draws can be averaged. "
                "Choose a row of every explanation with .row(label)."
            )


def _draws(one_each: Sequence[Explanation]) -> list[list[Explanation]]:
    """[draw example]: explanations of one row of scores each."""
    labels = one_each[0].rows[0][1] if one_each[0].rows else ()
    return [[explanation.row(label) for explanation in one_each] for label in labels] or [list(one_each)]


def _together(draws: Sequence[Judged]) -> MetricValues:
    """One metric's values for all draws. Curves are only drawn, so their mean over the draws is enough."""
    curves = [judged.curve for judged in draws if judged.curve is not None]
    return MetricValues(
        np.array([judged.columns for judged in draws], dtype=float),
        draws[0].combine,
        np.mean(curves, axis=0) if curves else None,
        draws[0].grid,
    )
