"""The seeds summed up: the layer that dev texts choose, and what stands over chance on test texts."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from pellucid.results.bootstrap import POINTS, SHARE, inside, mean_over_runs, paired_difference_over_runs
from pellucid.results.table import CHANCE, Interval
from studies.planted_token.study import LEARNT
from studies.s1_games.tasks import DECODED, UNDECODED
from studies.shared.claims import Claim
from studies.shared.units import Numbers


def summarise(runs: Sequence[Numbers], lens: str) -> Numbers:
    """The numbers of result.json: for each method and layer `found` and `over_chance` on test; the layers of dev; the
    claims.

    Seeds whose classifier has not learnt the word are left out, and named in `not_learnt`.
    """
    learnt = [one for one in runs if one["accuracy"] >= LEARNT]
    numbers = {
        "lens": lens,
        "accuracy": [one["accuracy"] for one in runs],
        "not_learnt": [one["seed"] for one in runs if one not in learnt],
        "seeds": len(learnt),
        "texts": len(runs[0]["precisions"]["test"]["found"][CHANCE]),
    }
    return numbers | (_judged(learnt) if learnt else {"layers": {}, "methods": {}, "recovery": {}, "claims": []})


def _judged(runs: Sequence[Numbers]) -> Numbers:
    dev, test = (_by_method(runs, split) for split in ("dev", "test"))
    layers = {name: best_layer(dev, name) for name in (DECODED, UNDECODED)}
    recovery = [one["precisions"]["test"]["recovery"] for one in runs]
    return {
        "layers": layers,
        "methods": {
            title: {"found": asdict(mean_over_runs(values, SHARE)), "over_chance": asdict(_over(values, test[CHANCE]))}
            for title, values in test.items()
        },
        "recovery": {layer: float(np.mean([one[layer] for one in recovery])) for layer in recovery[0]},
        "claims": [asdict(one) for one in claims(test, layers[DECODED])],
    }


def best_layer(precisions: Mapping[str, np.ndarray], method: str) -> int:
    """The layer of a method with the largest mean over seeds and texts; the lowest of equal ones."""
    means = {
        int(title.rpartition(" l")[2]): float(values.mean())
        for title, values in precisions.items()
        if title.startswith(f"{method} l")
    }
    return max(sorted(means), key=means.__getitem__)


def claims(precisions: Mapping[str, np.ndarray], layer: int) -> list[Claim]:
    """What the decoded layer of dev has over others on test, in points of average precision; precisions: [seed text] of
    each method.
    """
    ours = precisions[f"{DECODED} l{layer}"]
    others = {
        "chance": CHANCE,
        "the same layer without decoding": f"{UNDECODED} l{layer}",
        "saliency of l0, not decoded": f"{UNDECODED} l0",
    }
    return [
        Claim(f"the decoded layer of dev finds the planted word more often than {words}", None, over, *ours.shape)
        for words, other in others.items()
        for over in [inside(_over(100 * ours, 100 * precisions[other]), POINTS)]
    ]


def _by_method(runs: Sequence[Numbers], split: str) -> dict[str, np.ndarray]:
    """Method -> [seed text]."""
    every = [one["precisions"][split]["found"] for one in runs]
    return {title: np.array([one[title] for one in every]) for title in every[0]}


def _over(values: np.ndarray, others: np.ndarray) -> Interval:
    return paired_difference_over_runs(values, others)
