"""One part of a comparison: every method explains its examples, and every metric judges the explanations."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pellucid.base.catalogue import Call
from pellucid.base.errors import BadInput, BadSetting
from pellucid.base.processes import Progress, silent
from pellucid.comparison.case import Case, Judged
from pellucid.comparison.comparison import Comparison
from pellucid.comparison.judged_part import JudgedPart
from pellucid.results.bootstrap import MetricValues
from pellucid.results.explanation import Explanation
from pellucid.results.heaviest_spans import NOT_COUNTED, HeaviestSpans, heaviest_spans
from pellucid.run.batch import Batch
from pellucid.run.explaining import explain_batch
from pellucid.run.packing import scheduler_for
from pellucid.run.scheduler import Scheduler
from pellucid.text.example import Example
from pellucid.text.units import Spans

STAGE = "comparing"
REMEMBERED = 200_000  # logits that the scheduler remembers between metrics, about 100 MB


@dataclass(frozen=True)
class ComparedPart:
    """explanations: method's title -> one an example. judged: the metrics' values for them."""

    explanations: Mapping[str, Sequence[Explanation]]
    judged: JudgedPart


def compared_part(comparison: Comparison, part_index: int, progress: Progress) -> ComparedPart:
    """Explain and judge the examples of one part. The result does not depend on which parts were computed before."""
    within_part = _progress_of_part(comparison, part_index, progress)
    model = comparison.request.model
    batch = model.encode([comparison.examples[index] for index in comparison.part(part_index)])
    scheduler = scheduler_for(model)
    began = time.perf_counter()
    explanations = explained_part(comparison, batch, scheduler, within_part)
    explained = time.perf_counter()
    judged = judge_part(comparison, batch, explanations, scheduler, within_part)
    for stage, seconds in (("explaining", explained - began), ("judging", time.perf_counter() - explained)):
        comparison.seconds[stage] = comparison.seconds.get(stage, 0.0) + seconds
    return ComparedPart(explanations, replace(judged, heaviest=heaviest_of(explanations)))


def heaviest_of(explanations: Mapping[str, Sequence[Explanation]]) -> HeaviestSpans:
    """Counts of the heaviest spans: those of any method with span weights, which are the model's own."""
    of_spans = [one_each for one_each in explanations.values() if isinstance(one_each[0].units, Spans)]
    return heaviest_spans(of_spans[0]) if of_spans else NOT_COUNTED


def explained_part(
    comparison: Comparison, batch: Batch, scheduler: Scheduler, progress: Progress
) -> dict[str, Sequence[Explanation]]:
    """Method's title -> one explanation an example: those that were saved, and all others computed."""
    request, saved = comparison.request, comparison.saved
    there = (
        {} if saved is None else {title: saved.explanations(title, batch.examples) for title in comparison.saved_titles}
    )
    missing = [call for call in request.calls if call.title not in there]
    computed = explain_batch(replace(request, calls=missing), batch, scheduler, progress) if missing else {}
    explanations: dict[str, Sequence[Explanation]] = {**there, **computed}
    return {call.title: explanations[call.title] for call in request.calls}


def judged_part_of(
    comparison: Comparison, part_index: int, explanations: Mapping[str, Sequence[Explanation]], progress: Progress
) -> JudgedPart:
    """Judge explanations that one part already has."""
    batch = comparison.request.model.encode([comparison.examples[index] for index in comparison.part(part_index)])
    within_part = _progress_of_part(comparison, part_index, progress)
    return judge_part(comparison, batch, explanations, scheduler_for(comparison.request.model), within_part)


def _progress_of_part(comparison: Comparison, part_index: int, progress: Progress) -> Progress:
    """Turns progress within one part into progress over all examples: explaining counts as much of a part as it took of
    the parts before, of the first one half.
    """
    part, total, seconds = comparison.part(part_index), len(comparison.examples), comparison.seconds
    explaining = seconds["explaining"] / sum(seconds.values()) if seconds else 0.5

    def within_part(stage: str, done: int, count: int) -> None:
        share = explaining + (1 - explaining) * done / count if stage == "judging" else explaining * done / count
        progress(STAGE, part.start + int(len(part) * share), total)

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
            raise BadInput(f"The explanations of {title} are not those of the batch's examples, one each, in order.")
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


# What a comparison will cost, from a short trial: a few texts of different lengths, compared by all methods and
# metrics.

WORTH_IT = 64
"""Of fewer texts the trial would be a large part of the work."""

TRIED, MOST_TRIED = 16, 8
"""One text of so many is tried, and at most so many together: texts of one part share passes, so one alone would say
too much.
"""


@dataclass(frozen=True)
class ComparisonCost:
    """What a comparison will cost. texts: how many it compares. evaluations: edited texts that the model will read for
    the metrics.

    seconds: of all work, checks included. tried: how many texts this was judged by. check_seconds: of the checks.
    unknown: checks that train models, whose time is not in it.
    """

    texts: int
    evaluations: int
    seconds: float
    tried: int
    check_seconds: float = 0.0
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Trial:
    """Of some texts together: edited rows that ran, and the seconds of explaining and of judging."""

    rows: int
    explaining: float
    judging: float


def comparison_cost(comparison: Comparison, checks: Sequence[Call] = (), n_twins: int = 0) -> ComparisonCost | None:
    """The cost of a comparison with these checks; None where it has too few texts for a trial to be worth it.

    The texts are sorted by length and cut into equal groups, and the middle ones of all groups are compared together,
    as a part is. Before, the shortest of them is compared alone, since the first pass through a model is slower than
    the next.
    """
    n_texts = len(comparison.examples)
    if n_texts < WORTH_IT:
        return None
    middle = _tried_texts(comparison.examples)
    _trial(comparison, middle[:1])
    trial = _trial(comparison, middle)
    share = n_texts / len(middle)
    timed = [call for call in checks if "trainer" not in call.entry.facts["needs"]]
    again = trial if not (timed and comparison.saved) else _trial(replace(comparison, saved=None), middle)
    of_checks = sum(_seconds(comparison, call, middle, again, n_twins) for call in timed)
    return ComparisonCost(
        n_texts,
        round(trial.rows * share),
        (trial.explaining + trial.judging) * share + of_checks,
        len(middle),
        of_checks,
        tuple(call.title for call in checks if call not in timed),
    )


def middle_texts(examples: Sequence[Example], count: int) -> list[Example]:
    """So many texts, spread over all lengths: the middle one of each group of texts of like length, shortest first."""
    ordered = sorted(examples, key=_length)
    return [ordered[len(ordered) * (2 * index + 1) // (2 * count)] for index in range(count)]


def _tried_texts(examples: Sequence[Example]) -> list[Example]:
    return middle_texts(examples, min(MOST_TRIED, len(examples) // TRIED))


def _trial(comparison: Comparison, examples: Sequence[Example]) -> _Trial:
    """The share of marked words is that of these texts, which changes no cost."""
    some = replace(comparison, examples=tuple(examples), calls=comparison.metrics)
    model = some.request.model
    began, batch, scheduler = time.perf_counter(), model.encode(examples), scheduler_for(model)
    explanations = explained_part(some, batch, scheduler, silent)
    explained = time.perf_counter()
    judged = judge_part(some, batch, explanations, scheduler, silent)
    return _Trial(judged.rows, explained - began, time.perf_counter() - explained)


def _seconds(comparison: Comparison, check: Call, middle: Sequence[Example], trial: _Trial, n_twins: int) -> float:
    """What a check takes, by how often it explains how many of the texts; its own arithmetic is not counted."""
    facts, settings, n_texts = check.entry.facts, check.settings, len(comparison.examples)
    times = _times(facts["again"], settings, n_twins)
    texts = settings.get("n_texts", n_texts)
    count = min(n_texts, texts) if isinstance(texts, int) else n_texts
    if facts["of_random"]:
        return (times - 1) * _random_methods(comparison, middle) * count / len(middle)
    return times * trial.explaining * count / len(middle)


def _times(again: int | str, settings: Mapping[str, object], n_twins: int) -> int:
    """A number, that of a setting, the length of a setting, or one a twin."""
    if isinstance(again, int):
        return again
    value = n_twins if again == "twins" else settings.get(again, 0)
    if isinstance(value, int):
        return value
    return len(value) if isinstance(value, list | tuple) else 0


def _random_methods(comparison: Comparison, examples: Sequence[Example]) -> float:
    """The seconds of the random methods alone."""
    calls = [call for call in comparison.request.calls if call.entry.facts["random"]]
    model = comparison.request.model
    began = time.perf_counter()
    explain_batch(replace(comparison.request, calls=calls), model.encode(examples), scheduler_for(model), silent)
    return time.perf_counter() - began if calls else 0.0


def _length(example: Example) -> int:
    return sum(map(len, example.segments))
