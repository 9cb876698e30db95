"""What models of different penalties hold of the words: sums, shares of words that are kept, words that were given up,
claims.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import numpy as np

from pellucid.layers.layer_words import WordChanges, words_changed
from pellucid.layers.record import LayerAnalysis, ModelLayers
from pellucid.results.bootstrap import NOT_NEGATIVE, PERCENT, Range, mean_over_runs, paired_difference_over_runs
from pellucid.results.explanation import Explanation
from pellucid.results.storage import from_records
from studies.shared.claims import Claim
from studies.shared.computing_environment import count_machines
from studies.shared.units import Numbers

# The largest noise is ten standard deviations of the word embeddings. A piece that scores more than this bears less
# than one: noise as large as words differ from each other changes the state.
RETAINED = math.log(10)
MEASURES = {"information": "nats a text", "kept": "points", "accuracy": "points"}
RANGES: dict[str, Range] = {"information": NOT_NEGATIVE, "kept": PERCENT, "accuracy": PERCENT}
LISTED = 15  # words in a list


def summarise(units: Collection[Numbers], about: Numbers) -> Numbers:
    """The numbers of result.json: for each weight its measures and words given up, the claims, and what is missing."""
    by_weight = {weight: [one for one in units if one["l2"] == weight] for weight in about["weights"]}
    shown = {weight: sorted(of, key=lambda one: one["seed"]) for weight, of in by_weight.items() if of}
    values = {weight: measured(of) for weight, of in shown.items()}
    return {
        "about": about,
        "models": {f"{weight:g}": _numbers(shown[weight], values[weight]) for weight in shown},
        "changes": [_change(one) for one in _changes(shown)],
        "claims": {measure: [_record(one) for one in claims(values, measure)] for measure in MEASURES},
        "missing": [
            f"l2 = {weight:g} (seed {seed})"
            for weight, of in by_weight.items()
            for seed in sorted(set(range(about["seeds"])) - {one["seed"] for one in of})
        ],
        "machines": count_machines(list(units)),
    }


def measured(runs: Sequence[Numbers]) -> dict[str, np.ndarray]:
    """[seed text] of each measure: nats in a text, percent of its pieces that are kept, 100 where right; special tokens
    are in none.
    """
    scores = [[one.scores[-1, list(one.units.content)] for one in _explanations(run)] for run in runs]
    return {
        "information": np.array([[one.sum(dtype=np.float64) for one in seed] for seed in scores]),
        "kept": np.array([[100 * float((one > RETAINED).mean()) for one in seed] for seed in scores]),
        "accuracy": 100 * np.array([run["right"] for run in runs], dtype=float),
    }


def claims(values: Mapping[float, Mapping[str, np.ndarray]], measure: str) -> list[Claim]:
    """A smaller weight leaves more than the next larger one, and none more than the largest; over the first seeds of
    both.
    """
    weights = sorted(values)
    pairs = list(pairwise(weights)) + ([(weights[0], weights[-1])] if len(weights) > 2 else [])
    tested = []
    for less, more in pairs:
        seeds = min(len(values[less][measure]), len(values[more][measure]))
        difference = paired_difference_over_runs(values[less][measure][:seeds], values[more][measure][:seeds])
        tested.append(
            Claim(
                f"{_what(measure)} with α = {less:g} than with {more:g}",
                None,
                difference,
                seeds,
                values[less][measure].shape[1],
            )
        )
    return tested


def _what(measure: str) -> str:
    return {
        "information": "more information",
        "kept": "more pieces kept",
        "accuracy": "more often right",
    }[measure]


def _numbers(runs: Sequence[Numbers], values: Mapping[str, np.ndarray]) -> Numbers:
    explained = [one for run in runs for one in _explanations(run)]
    return {
        "seeds": len(runs),
        **{measure: asdict(mean_over_runs(values[measure], RANGES[measure])) for measure in MEASURES},
        "by_seed": {measure: values[measure].mean(1).tolist() for measure in MEASURES},
        "squares": float(np.mean([run["squares"] for run in runs])),
        "settled": float(np.mean([one.diagnostics["converged"] for one in explained])),
        "seconds": [round(run["seconds"]) for run in runs],
    }


def _explanations(run: Numbers) -> tuple[Explanation, ...]:
    return tuple(from_records(run["explanations"]))


def _changes(by_weight: Mapping[float, Sequence[Numbers]]) -> tuple[WordChanges, ...]:
    """Which words each penalised model stopped using against the one without a penalty."""
    models = [ModelLayers(f"{weight:g}", tuple(map(_explanations, of))) for weight, of in by_weight.items()]
    return words_changed(LayerAnalysis(tuple(models), "nats")) if len(models) > 1 else ()


def _change(one: WordChanges) -> Numbers:
    gains = [word for word in reversed(one.words) if word.verdict == "uses more"]
    return {
        "l2": one.model,
        "why_not": one.why_not,
        "n_words": len(one.words),
        "n_stopped": len(one.stopped),
        "n_more": len(gains),
        "stopped": [_word(word) for word in one.stopped[:LISTED]],
        "more": [_word(word) for word in gains[:LISTED]],
    }


def _word(word: Any) -> list[object]:
    return [word.word, round(word.first, 2), round(word.second, 2)]


def _record(claim: Claim) -> Numbers:
    return asdict(claim)
