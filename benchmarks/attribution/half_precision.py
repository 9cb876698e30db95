"""bfloat16 against float32 for methods that need forward passes alone: speed, error, and whether the five top words
stay.
"""

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch

import pellucid
from benchmarks.attribution.definition import Definition
from benchmarks.attribution.taught import teach
from benchmarks.attribution.workload import TINY, sample, texts_of
from pellucid.base.errors import PellucidError
from pellucid.base.kinds import attributions
from pellucid.results.explanation import Explanation
from pellucid.run.diagnostics import EAGER

TOP = 5
SECONDS = 80.0  # by the floor: enough for all short texts but of the method with the most passes
TIE = 0.01  # of the largest score: the error of mixed_bfloat16 that the documents name; scores that differ by less are equal
KINDS = {  # title -> how a model is loaded
    "bfloat16": {"dtype": "bfloat16"},
    "mixed_bfloat16": {"dtype": "mixed_bfloat16"},
    "mixed_bfloat16 by onednn": {"dtype": "mixed_bfloat16", "route": "onednn"},
}
METHODS: dict[str, tuple[dict[str, Any], Definition]] = {
    "occlusion": ({}, Definition("forward", "windows")),
    "kernel_shap": ({"n_samples": 100}, Definition("forward", "samples", 100)),
    "lime": ({"n_samples": 100}, Definition("forward", "samples", 100)),
    "shapley_sampling": ({"n_permutations": 8}, Definition("forward", "permutations", 8)),
}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """For each number type and method: seconds, how much faster, and the share of texts with the same five words."""
    torch.set_num_threads(1)
    folder, texts = Path(request["folder"]), texts_of("short")
    seconds = 0.5 if request["quick"] else SECONDS
    models = {"float32": pellucid.load(folder, device=request["device"])}
    for kind, loaded in KINDS.items():
        with suppress(PellucidError):  # a type that is not offered
            model = pellucid.load(folder, device=request["device"], **loaded)
            if model.route_in_use == loaded.get("route", EAGER):
                models[kind] = model
    teach(folder, models)
    known = [name for name in METHODS if name in attributions.names()]
    by_method = {name: _compared(models, texts, name, seconds * request["expected"]) for name in known}
    return {kind: {name: by_method[name][kind] for name in known} for kind in models if kind != "float32"}


def _compared(models: dict[str, Any], texts: list[str], method: str, budget: float) -> dict[str, dict[str, Any]]:
    settings, definition = METHODS[method]
    costs = [definition.tokens(len(text.split()) + 2) for text in texts]
    sampled = [texts[number] for number in sample(costs, budget)]
    by_kind: dict[str, list[Explanation]] = {}
    seconds: dict[str, float] = {}
    for kind, model in models.items():
        pellucid.explain(model, TINY, method, progress=False)
        start = time.perf_counter()
        by_kind[kind] = pellucid.explain(model, sampled, method, progress=False, **settings)
        seconds[kind] = time.perf_counter() - start
    return {kind: _against_float32(by_kind, seconds, kind) for kind in models if kind != "float32"}


def _against_float32(by_kind: dict[str, list[Explanation]], seconds: dict[str, float], kind: str) -> dict[str, Any]:
    pairs = [
        (np.abs(one.scores), np.abs(other.scores)) for one, other in zip(by_kind["float32"], by_kind[kind], strict=True)
    ]
    return {
        "seconds": [seconds["float32"], seconds[kind]],
        "speed": seconds["float32"] / seconds[kind],
        "same_top": sum(_top(exact) == _top(rough) for exact, rough in pairs) / len(pairs),
        "same_but_ties": sum(_same_but_ties(exact, rough) for exact, rough in pairs) / len(pairs),
        "error": float(np.mean([np.abs(exact - rough).max() / exact.max() for exact, rough in pairs])),
        "texts": len(pairs),
    }


def _top(sizes: np.ndarray) -> set[int]:
    """The units of the largest scores, for or against."""
    return set(np.argsort(-sizes, kind="stable")[:TOP].tolist())


def _same_but_ties(exact: np.ndarray, rough: np.ndarray) -> bool:
    """Whether every unit that came into the top has as large a score as one that left it, but for a tie."""
    top, other = _top(exact), _top(rough)
    if top == other:
        return True
    least, room = min(exact[unit] for unit in top), TIE * exact.max()
    return all(exact[unit] >= least - room for unit in other)
