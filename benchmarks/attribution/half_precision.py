"""bfloat16 against float32 for methods that need forward passes alone: speed, and whether the five top words stay."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

import pellucid
from benchmarks.attribution.definition import Definition
from benchmarks.attribution.workload import TINY, sample, texts_of
from pellucid.core.explanation import Explanation
from pellucid.core.kinds import attributions

TOP = 5
SECONDS = 20.0
KINDS = ("float32", "bfloat16")
METHODS: dict[str, tuple[dict[str, Any], Definition]] = {
    "occlusion": ({}, Definition("forward", "windows")),
    "kernel_shap": ({"n_samples": 100}, Definition("forward", "samples", 100)),
    "lime": ({"n_samples": 100}, Definition("forward", "samples", 100)),
    "shapley_sampling": ({"n_permutations": 8}, Definition("forward", "permutations", 8)),
}


def compared(told: dict[str, Any]) -> dict[str, Any]:
    """For each method: seconds of both, how much faster, and the share of texts with the same five words."""
    torch.set_num_threads(1)
    models = {kind: pellucid.load(Path(told["folder"]), device=told["device"], dtype=kind) for kind in KINDS}
    texts = texts_of("short")
    seconds = 0.5 if told["quick"] else SECONDS
    known = [name for name in METHODS if name in attributions.names()]
    return {name: _compared(models, texts, name, seconds * told["expected"]) for name in known}


def _compared(models: dict[str, Any], texts: list[str], method: str, budget: float) -> dict[str, Any]:
    settings, definition = METHODS[method]
    costs = [definition.tokens(len(text.split()) + 2) for text in texts]
    chosen = [texts[number] for number in sample(costs, budget)]
    found: dict[str, list[Explanation]] = {}
    seconds: dict[str, float] = {}
    for kind, model in models.items():
        pellucid.explain(model, TINY, method, progress=False)
        start = time.perf_counter()
        found[kind] = pellucid.explain(model, chosen, method, progress=False, **settings)
        seconds[kind] = time.perf_counter() - start
    same = [_top(one) == _top(other) for one, other in zip(*found.values(), strict=True)]
    return {
        "seconds": seconds,
        "speed": seconds["float32"] / seconds["bfloat16"],
        "same_top": sum(same) / len(same),
        "texts": len(same),
    }


def _top(explanation: Explanation) -> set[int]:
    """The units of the largest scores, for or against."""
    return set(np.argsort(-np.abs(explanation.scores), kind="stable")[:TOP].tolist())


if __name__ == "__main__":
    print(json.dumps(compared(json.loads(sys.argv[1]))))
