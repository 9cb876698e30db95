"""Peak memory beyond the model of every method of ours on long texts, and whether it grows with their settings.

One process; every peak is counted from what the process held when only the model was there, so what an earlier method
left behind can only add. Settings that only make a run longer are small here: memory must not depend on them. For the
same reason a method is stopped after a while: those that ask about every piece would take minutes a text.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import torch
from torch import nn

import pellucid
from benchmarks.attribution.memory import peak, resident
from benchmarks.attribution.workload import TINY, texts_of
from pellucid.base.errors import PellucidError
from pellucid.base.kinds import attributions
from pellucid.explaining.inputs.readings import supported_methods

SMALL = {"n_steps": 4, "n_samples": 16, "n_permutations": 8, "unit": "sentence"}
SECONDS, QUICK_SECONDS = 8.0, 1.0
GROWTH = (  # pairs whose peaks must be alike: (method, settings, texts)
    ("n_steps", ("integrated_gradients", {"n_steps": 2}, 1), ("integrated_gradients", {"n_steps": 12}, 1)),
    ("n_samples", ("kernel_shap", {"n_samples": 40}, 1), ("kernel_shap", {"n_samples": 160}, 1)),
    ("texts", ("gradient", {}, 1), ("gradient", {}, 8)),
)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Megabytes of every method on the long texts, and of each pair in GROWTH."""
    torch.set_num_threads(1)
    model, texts = pellucid.load(request["folder"], device=request["device"]), texts_of("long")
    texts = texts[:1] if request["quick"] else texts
    names = [str(name) for name in supported_methods(model)]
    pellucid.explain(model, TINY, "occlusion", progress=False)
    before = resident(request["device"])

    def megabytes(name: str, settings: dict[str, Any], count: int, seconds: float) -> float | str:
        try:
            with peak(request["device"], before) as highest, stopped_after(model.network, seconds):
                pellucid.explain(model, texts[:count], name, progress=False, **settings)
        except PellucidError as error:
            return str(error)
        return highest.megabytes

    limit = QUICK_SECONDS if request["quick"] else SECONDS
    growth = {
        what: [megabytes(*few, 10 * limit), megabytes(*many, 10 * limit)]
        for what, few, many in GROWTH
        if few[0] in names
    }
    methods = {name: megabytes(name, small(name), len(texts), limit) for name in names}
    return {"growth": growth, "seconds": limit, "methods": methods}


class TimeUp(BaseException):
    """Not an error: the time is over."""


@contextmanager
def stopped_after(network: nn.Module, seconds: float) -> Iterator[None]:
    """Stop what runs inside at the first call of the network when the time is over: never in the middle of one."""
    end = time.perf_counter() + seconds

    def stop(*_: Any) -> None:
        if time.perf_counter() > end:
            raise TimeUp

    handle = network.register_forward_pre_hook(stop)
    try:
        with suppress(TimeUp):
            yield
    finally:
        handle.remove()


def small(name: str) -> dict[str, Any]:
    """Those of the small settings that the method has."""
    return {setting: value for setting, value in SMALL.items() if setting in attributions.get(name).defaults}
