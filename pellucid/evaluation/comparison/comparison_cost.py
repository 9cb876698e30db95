"""What a comparison will cost, from a short trial: a few texts of different lengths, compared by all methods and metrics."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pellucid.core.explaining.explaining import explain_batch
from pellucid.core.foundation.catalogue import Call
from pellucid.core.foundation.progress import silent
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.text.example import Example
from pellucid.evaluation.comparison.compared_part import judge_part
from pellucid.evaluation.comparison.comparison import Comparison

WORTH_IT = 64
"""Of fewer texts the trial would be a large part of the work."""

TRIED, MOST_TRIED = 16, 8
"""One text of so many is tried, and at most so many together: texts of one part share passes, so one alone would say too much."""


@dataclass(frozen=True)
class ComparisonCost:
    """What a comparison will cost. texts: how many it compares. evaluations: edited texts that the model will read for the metrics.

    seconds: of all work, checks included. tried: how many texts this was judged by. check_seconds: of the checks. unknown: checks
    that train models, whose time is not in it.
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


def comparison_cost(
    comparison: Comparison, checks: Sequence[Call] = (), n_twins: int = 0
) -> ComparisonCost | None:
    """The cost of a comparison with these checks; None where it has too few texts for a trial to be worth it.

    The texts are sorted by length and cut into equal groups, and the middle ones of all groups are compared together, as a part is.
    Before, the shortest of them is compared alone, since the first pass through a model is slower than the next.
    """
    n_texts = len(comparison.examples)
    if n_texts < WORTH_IT:
        return None
    middle = _middle_texts(comparison.examples)
    _trial(comparison, middle[:1])
    trial = _trial(comparison, middle)
    share = n_texts / len(middle)
    timed = [call for call in checks if "trainer" not in call.entry.facts["needs"]]
    of_checks = sum(_seconds(comparison, call, middle, trial, n_twins) for call in timed)
    return ComparisonCost(
        n_texts,
        round(trial.rows * share),
        (trial.explaining + trial.judging) * share + of_checks,
        len(middle),
        of_checks,
        tuple(call.title for call in checks if call not in timed),
    )


def _middle_texts(examples: Sequence[Example]) -> list[Example]:
    """The middle text of each group of texts of like length, shortest first."""
    ordered = sorted(examples, key=_length)
    count = min(MOST_TRIED, len(ordered) // TRIED)
    return [ordered[len(ordered) * (2 * number + 1) // (2 * count)] for number in range(count)]


def _trial(comparison: Comparison, examples: Sequence[Example]) -> _Trial:
    """The share of marked words is that of these texts, which changes no cost."""
    some = replace(comparison, examples=tuple(examples), calls=comparison.metrics)
    model = some.request.model
    began, batch, scheduler = time.perf_counter(), model.encode(examples), scheduler_for(model)
    explanations = explain_batch(some.request, batch, scheduler, silent)
    explained = time.perf_counter()
    judged = judge_part(some, batch, explanations, scheduler, silent)
    return _Trial(judged.rows, explained - began, time.perf_counter() - explained)


def _seconds(
    comparison: Comparison, check: Call, middle: Sequence[Example], trial: _Trial, n_twins: int
) -> float:
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
    explain_batch(
        replace(comparison.request, calls=calls), model.encode(examples), scheduler_for(model), silent
    )
    return time.perf_counter() - began if calls else 0.0


def _length(example: Example) -> int:
    return sum(map(len, example.segments))
