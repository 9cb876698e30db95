"""The study's numbers over seeds: accuracy beside the plain model, what spans do, and how other methods compare on the
same model.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import combinations

import numpy as np

from pellucid.results.bootstrap import (
    CHANGE,
    NOT_NEGATIVE,
    PERCENT,
    Range,
    bootstrap_interval,
    mean_over_runs,
    paired_difference,
    paired_difference_over_runs,
    t_interval,
)
from pellucid.results.table import CHANCE
from studies.believable_spans.marks import marks_of
from studies.believable_spans.models import MODELS
from studies.believable_spans.other_methods import INTEGRATED_GRADIENTS
from studies.shared.computing_environment import count_machines
from studies.shared.trainings import right_on_shared_seeds
from studies.shared.units import Numbers

PLAIN = "plain"
POINTS = ("agrees", "random_agrees", "without_content")  # shares, given in points
# fall of the probability with the chosen words alone or without them -> whether lower is better
LOWER_IS_BETTER = {"alone": True, "without": False}


def summarise(about: Numbers, trained: Sequence[Numbers], judged: Sequence[Numbers]) -> Numbers:
    """Model -> its numbers; models without a finished training are missing."""
    runs, judgements = _by_model(trained), _by_model(judged)
    expected = set(range(about["seeds"]))
    missing = {
        **{name: sorted(expected - _seeds(runs.get(name, []))) for name in about["models"]},
        **{f"judging of {name}": sorted(expected - _seeds(judgements.get(name, []))) for name in about["judged"]},
    }
    return {
        "about": about,
        "models": {
            name: _training_numbers(runs[name], runs.get(PLAIN, [])) for name in about["models"] if name in runs
        },
        "judged": {
            name: _judged_numbers(of) for name, of in judgements.items() if MODELS[name].has_spans and name in runs
        },
        "marks": marks_of(judgements),
        "missing": {name: seeds for name, seeds in missing.items() if seeds},
        "machines": count_machines([*trained, *judged]),
    }


def _seeds(units: Sequence[Numbers]) -> set[int]:
    return {one["seed"] for one in units}


def _by_model(units: Sequence[Numbers]) -> dict[str, list[Numbers]]:
    """Units by model, sorted by seed."""
    groups: dict[str, list[Numbers]] = {}
    for one in sorted(units, key=lambda one: one["seed"]):
        groups.setdefault(one["model"], []).append(one)
    return groups


def _training_numbers(runs: Sequence[Numbers], plain: Sequence[Numbers]) -> Numbers:
    """Accuracies in points with their difference from the plain model's of the same seeds; spans on dev; the training's
    cost.
    """
    numbers: Numbers = {"title": MODELS[runs[0]["model"]].title, "seeds": [one["seed"] for one in runs]}
    for part, field in (("test", "right"), ("unread", "unread_right")):
        ours, theirs = right_on_shared_seeds(_with_right(runs, field), _with_right(plain, field))
        right = 100 * _texts(runs, lambda one: list(map(int, one[field])))  # noqa: B023
        numbers[part] = asdict(mean_over_runs(right, PERCENT))
        numbers[f"{part}_over_plain"] = asdict(paired_difference_over_runs(ours, theirs)) if len(ours) else None
    numbers["spans_on_dev"] = span_numbers([one["dev"] for one in runs]) if runs[0]["dev"] else None
    timed = [one["seconds"] for one in runs if one["seconds"] is not None]
    numbers["seconds"] = float(np.median(timed)) if timed else None
    return numbers


def _with_right(runs: Sequence[Numbers], field: str) -> list[Numbers]:
    return [{"seed": one["seed"], "right": one[field]} for one in runs]


def span_numbers(runs: Sequence[Numbers]) -> Numbers:
    """Means over seeds and texts of what the spans do; shares in points. `spread`: the deviation of the number of spans
    over seeds.
    """
    columns = {
        "spans": [one["spans"] for one in runs],
        "words": [list(map(len, one["words"])) for one in runs],
        "agrees": [one["agrees"] for one in runs],
        "random_agrees": [one["random_agrees"] for one in runs],
        "alone": [one["alone"] for one in runs],
        "without": [one["without"] for one in runs],
        "random_without": [one["random_without"] for one in runs],
        "without_content": [[not has for has in one["content"]] for one in runs],
    }
    intervals = {
        name: asdict(mean_over_runs((100 if name in POINTS else 1) * np.array(values, dtype=float), _range(name)))
        for name, values in columns.items()
    }
    leads = {
        "over_random": (100, "agrees", "random_agrees"),
        "without_over_random": (1, "without", "random_without"),
    }
    for name, (scale, own, random) in leads.items():
        sides = (scale * np.array(columns[which], dtype=float) for which in (own, random))
        intervals[name] = asdict(paired_difference_over_runs(*sides))
    means = [float(np.mean(one)) for one in columns["spans"]]
    spread = float(np.std(means, ddof=1)) if len(means) > 1 else None
    length = float(np.mean([one["n_words"] for one in runs]))
    return {**intervals, "spread": spread, "n_words": length}


def _range(name: str) -> Range:
    """What a number of the spans cannot leave; those that are neither shares nor counts are falls of a probability."""
    return PERCENT if name in POINTS else NOT_NEGATIVE if name in ("spans", "words") else CHANGE


def _judged_numbers(units: Sequence[Numbers]) -> Numbers:
    numbers: Numbers = {
        "seeds": [one["seed"] for one in units],
        "spans": span_numbers([one["spans"] for one in units]),
        "leak": asdict(t_interval([100 * one["leak"]["over_majority"]["mean"] for one in units])),
        "overlap": _overlap(units),
    }
    if "methods" in units[0]:
        numbers["methods"] = {name: _against_methods(units, name) for name in LOWER_IS_BETTER}
    if "reason" in units[0] and any(one is not None for one in units[0]["reason"]):
        numbers["reason"] = _reasons([one["reason"] for one in units], units[0]["fits"])
    return numbers


def _against_methods(units: Sequence[Numbers], field: str) -> Numbers:
    """method -> its fall, and how much better the spans are than the best of them (positive), text by text."""
    fewer = len(units[0]["methods"][INTEGRATED_GRADIENTS]["words"])
    own = _texts(units, lambda one: one["spans"][field][:fewer])
    methods = {
        name: _texts(units, lambda one: one["methods"][name][field])  # noqa: B023
        for name in units[0]["methods"]
    }
    sign = -1 if LOWER_IS_BETTER[field] else 1
    best = max((name for name in methods if name != CHANCE), key=lambda name: sign * methods[name].mean())
    return {
        "own": asdict(mean_over_runs(own, CHANGE)),
        "methods": {name: asdict(mean_over_runs(values, CHANGE)) for name, values in methods.items()},
        "best": best,
        "over_best": asdict(paired_difference_over_runs(sign * own, sign * methods[best])),
    }


def _overlap(units: Sequence[Numbers]) -> Numbers | None:
    """How alike two seeds' heaviest spans are: words in both / words in either, mean over pairs of seeds; the same of
    integrated gradients' best words on the same texts, and the lead of the spans. Intervals are over texts. None below
    two seeds.
    """
    if len(units) < 2:
        return None
    if "methods" not in units[0]:
        return {"spans": asdict(bootstrap_interval(_alike([one["spans"]["words"] for one in units])))}
    theirs = [one["methods"][INTEGRATED_GRADIENTS]["words"] for one in units]
    sides = [_alike([one["spans"]["words"][: len(theirs[0])] for one in units]), _alike(theirs)]
    own, other = (asdict(bootstrap_interval(side)) for side in sides)
    return {"spans": own, INTEGRATED_GRADIENTS: other, "lead": asdict(paired_difference(sides[0], sides[1]))}


def _alike(by_seed: Sequence[Sequence[Sequence[int]]]) -> np.ndarray:
    """[text]"""
    pairs = [
        [_jaccard(one, other) for one, other in zip(first, second, strict=True)]
        for first, second in combinations(by_seed, 2)
    ]
    return np.mean(pairs, axis=0)


def _jaccard(one: Sequence[int], other: Sequence[int]) -> float:
    either = {*one} | {*other}
    return len({*one} & {*other}) / len(either) if either else 1.0


def _reasons(runs: Sequence[Sequence[float | None]], fits: Sequence[bool]) -> Numbers:
    """share: of the reason's words in the spans; whole: how often all of them are, of the `n_fitting` texts where two
    short spans can have all. Both in points; texts without a reason are left out.
    """
    shares = np.array([[np.nan if one is None else one for one in run] for run in runs], dtype=float)
    has_reason = ~np.isnan(shares).any(0)
    reasoned, fitting = shares[:, has_reason], np.array(fits)[has_reason]
    return {
        "n": reasoned.shape[1],
        "n_fitting": int(fitting.sum()),
        "share": asdict(mean_over_runs(100 * reasoned, PERCENT)),
        "whole": asdict(mean_over_runs(100.0 * (reasoned[:, fitting] == 1), PERCENT)),
    }


def _texts(units: Sequence[Numbers], values_of: Callable[[Numbers], Sequence[float]]) -> np.ndarray:
    """[seed text]"""
    return np.array([values_of(one) for one in units], dtype=float)
