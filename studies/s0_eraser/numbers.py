"""The numbers of T3 over seeds: accuracies, ERASER's scores, the heaviest spans, and verdicts on the claims."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial

import numpy as np

from pellucid.evidence.eraser_scores import NUMBERS
from pellucid.results.bootstrap import SHARE
from pellucid.results.heaviest_spans import HeaviestSpans
from pellucid.results.table import Interval
from studies.shared.seed_intervals import interval_over_seeds
from studies.shared.span_sharpness import spans_beside
from studies.shared.units import Numbers

CUTS = ("one span", "budget", "words")
RANDOM = "random_span"
FEWEST_SEEDS = 3
COLLAPSED, FEW = "collapsed: no verdict", "too few seeds: no verdict"


def summarise(tried: Sequence[Numbers], models: Sequence[Numbers], judged: Sequence[Numbers]) -> Numbers:
    """Task -> the choice of penalties on dev, accuracies, scores by cut, the heaviest spans, and the claims."""
    tasks = dict.fromkeys(one["task"] for one in models)
    of = lambda ones, task: [one for one in ones if one["task"] == task]  # noqa: E731
    return {
        "tasks": {task: _task(of(tried, task), of(models, task), of(judged, task)) for task in tasks},
        "seconds": sum(one["seconds"] for one in (*tried, *models, *judged)),
    }


def _task(tried: Sequence[Numbers], models: Sequence[Numbers], judged: Sequence[Numbers]) -> Numbers:
    by_row = _grouped(judged, "extractor")
    spans = {row: _spans(units) for row, units in by_row.items() if "heaviest" in units[0]}
    columns = {
        row: {cut: np.array([unit["columns"][cut] for unit in units]) for cut in CUTS} for row, units in by_row.items()
    }
    return {
        "choosing": [
            {name: one[name] for name in ("kind", "penalty", "few", "dev_accuracy", "collapsed", "heaviest")}
            for one in tried
        ],
        "models": {kind: _accuracy(units) for kind, units in _grouped(models, "kind").items()},
        "seeds": len({one["seed"] for one in judged}),
        "marked": judged[0]["marked"],
        "taken": {
            row: {cut: float(np.mean([unit["taken"][cut] for unit in units])) for cut in CUTS}
            for row, units in by_row.items()
        },
        "cuts": {cut: {row: _scores(by_cut[cut]) for row, by_cut in columns.items()} for cut in CUTS},
        "spans": spans,
        "claims": [
            claim
            for row in spans
            for cut in CUTS
            for rival in columns
            if rival not in spans
            for claim in _claims(row, rival, cut, columns, spans[row])
        ],
    }


def _grouped(units: Sequence[Numbers], name: str) -> dict[str, list[Numbers]]:
    """Units grouped by a field, and sorted by seed."""
    groups: dict[str, list[Numbers]] = {}
    for one in sorted(units, key=lambda one: one["seed"]):
        groups.setdefault(one[name], []).append(one)
    return groups


def _accuracy(units: Sequence[Numbers]) -> Numbers:
    right = np.array([[float(one) for one in unit["right"]] for unit in units])
    return {
        "penalty": units[0]["penalty"],
        "by_seed": right.mean(1).tolist(),
        "interval": _plain(interval_over_seeds(right[..., None], lambda means: means[..., 0], SHARE)),
    }


def _spans(units: Sequence[Numbers]) -> Numbers:
    """collapsed: with how many seeds."""
    counted = [HeaviestSpans(**unit["heaviest"]) for unit in units]
    words: dict[str, int] = {}
    for word, count in (pair for unit in units for pair in unit["words"]):
        words[word] = words.get(word, 0) + count
    return {
        "penalty": units[0]["penalty"],
        "collapsed": sum(one.collapsed for one in counted),
        "by_seed": [one.record() for one in counted],
        "heaviest": asdict(sum(counted, HeaviestSpans())),
        "effective_spans": [unit["effective_spans"] for unit in units],
        "sharpness": [
            {"effective_spans": unit["effective_spans"], **unit.get("places", {}), **one.record()}
            for unit, one in zip(units, counted, strict=True)
        ],
        "words": sorted(words.items(), key=lambda pair: -pair[1]),
        "words_in_all": sum(unit["words_in_all"] for unit in units),
    }


def _scores(columns: np.ndarray) -> Numbers:
    """columns: [seed example column]."""
    return {name: _plain(interval_over_seeds(columns, number, SHARE)) for name, number in NUMBERS.items()}


def _claims(
    row: str, rival: str, cut: str, columns: Mapping[str, Mapping[str, np.ndarray]], spans: Numbers
) -> list[Numbers]:
    ours, theirs = columns[row][cut], columns[rival][cut]
    both = np.concatenate([ours, theirs], -1)
    claims = []
    for score, number in NUMBERS.items():
        over = interval_over_seeds(both, partial(_difference, number, ours.shape[-1]))
        claims.append(
            {
                "row": row,
                "cut": cut,
                "than": rival,
                "score": score,
                "difference": _plain(over),
                "verdict": verdict(over, rival, len(ours), spans["collapsed"] > 0),
                "texts": ours.shape[1],
                "beside": spans_beside(spans["sharpness"]),
            }
        )
    return claims


def _difference(number: Callable[[np.ndarray], np.ndarray], width: int, means: np.ndarray) -> np.ndarray:
    """The difference of two extractors, whose columns stand side by side."""
    return number(means[..., :width]) - number(means[..., width:])


def verdict(over: Interval, rival: str, seeds: int, collapsed: bool) -> str:
    """The paper says that span attention is better than the others; of random spans it says nothing."""
    if collapsed:
        return COLLAPSED
    if seeds < FEWEST_SEEDS:
        return FEW
    if not over.excludes_zero:
        return "undecided"
    if rival == RANDOM:
        return "better" if over.mean > 0 else "worse"
    return "reproduced" if over.mean > 0 else "not reproduced"


def _plain(interval: Interval) -> list[float | None]:
    return [None if value != value else round(value, 4) for value in asdict(interval).values()]
