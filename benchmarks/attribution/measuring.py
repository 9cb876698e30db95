"""One case in a process of its own: its time, what it computed, its peak memory, and the floor before, between and
after.

Costly cases run on a sample of the texts, spread evenly over their lengths, and are scaled by the tokens that the
definition asks for.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

import pellucid
from benchmarks.attribution import ours
from benchmarks.attribution.cases import BY_ROUTE, Case
from benchmarks.attribution.counting import Counted, counting
from benchmarks.attribution.definition import Definition
from benchmarks.attribution.floor import Way, eager, throughput, wait
from benchmarks.attribution.memory import peak, resident
from benchmarks.attribution.reading import Missing, reader_of
from benchmarks.attribution.workload import TINY, sample, texts_of

SHORT_RUN, MOST_RUNS = 2.0, 5  # seconds; shorter runs are repeated five times, others three times
LONG_RUN = 10.0  # and above which there is one
FLOOR_SECONDS, CUDA_FLOOR_SECONDS = 1.2, 0.3  # of each look at the floor


@dataclass(frozen=True)
class Task:
    """What one process measures. seconds: ideal time of a run; the sample is drawn for it. route: by which our passes
    are computed."""

    case: Case
    way: Way
    expected: float  # tokens a second when the floor was measured
    seconds: float
    folder: Path
    device: str
    most: int | None = None  # of texts, evenly spread; None: as many as `seconds` allows
    route: str = "eager"


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The record of the requested case."""
    case = Case(**request["case"] | {"definition": Definition(**request["case"]["definition"])})
    task = Task(
        case,
        Way(**request["way"]),
        request["expected"],
        request["seconds"],
        Path(request["folder"]),
        request["device"],
        request.get("most"),
        request.get("route", "eager"),
    )
    try:
        return measured(task)
    except Missing as missing:
        return {"skipped": str(missing)}


def runner(task: Task) -> tuple[Any, Any, Callable[[list[str]], Any]]:
    """The network, its tokenizer, and the function that explains texts."""
    case = task.case
    if case.by in ("pellucid", BY_ROUTE):
        model = pellucid.load(task.folder, device=task.device, route=task.route)
        if model.route_in_use != task.route:
            raise Missing(f"The route {task.route} is not used: {model.route_choice.why}.")
        return model.network, model.tokenizer, ours.prepare(model, case.method, case.settings)
    reader = reader_of(task.folder, task.device)
    library, tuned = case.by.split()[0], case.by.endswith("tuned")
    if library == "captum":
        from benchmarks.attribution.peers_captum import prepare
    elif library == "shap":
        from benchmarks.attribution.peers_shap import prepare
    else:
        from benchmarks.attribution.peers_lime import prepare
    return reader.network, reader.tokenizer, prepare(reader, case.method, case.settings, tuned)


def measured(task: Task) -> dict[str, Any]:
    """The record of one case."""
    torch.set_num_threads(task.case.threads)
    torch.manual_seed(0)
    network, tokenizer, explain = runner(task)
    texts = texts_of(task.case.texts)
    rows = [tokenizer(text)["input_ids"] for text in texts]
    costs = [task.case.definition.tokens(len(row)) for row in rows]
    budget = task.seconds * task.expected
    if task.most is not None:
        budget = min(budget, task.most * sum(costs) / len(costs))
    sampled = sample(costs, budget)
    explain(TINY)  # imports, and what a model does only once
    before = resident(task.device)

    look = FLOOR_SECONDS if task.device == "cpu" else CUDA_FLOOR_SECONDS
    every = max(1, round(sum(map(len, rows)) / (look * task.expected)))

    def floor() -> float:
        with eager(network, task.case.eager):
            return throughput(network, rows[every // 2 :: every], task.case.definition.passes, task.way)

    floors = [floor()]
    # What counts hooks the network, and a hooked network is computed by PyTorch's own operators.
    count = nullcontext() if task.case.by == BY_ROUTE else counting(network)
    with peak(task.device, before) as highest, count as counted:
        times = [_timed(network, explain, [texts[number] for number in sampled])]
    floors.append(floor())
    for _ in range(_runs(times[0]) - 1):
        times.append(_timed(network, explain, [texts[number] for number in sampled]))
        floors.append(floor())
    return _record(task, costs, sampled, times, floors, counted, highest.megabytes)


def _runs(seconds: float) -> int:
    return MOST_RUNS if seconds < SHORT_RUN else 1 if seconds > LONG_RUN else 3


def _timed(network: Any, explain: Callable[[list[str]], Any], texts: list[str]) -> float:
    wait(network)
    start = time.perf_counter()
    explain(texts)
    wait(network)
    return time.perf_counter() - start


def _record(
    task: Task,
    costs: Sequence[int],
    sampled: Sequence[int],
    times: Sequence[float],
    floors: Sequence[float],
    counted: Counted | None,
    megabytes: float,
) -> dict[str, Any]:
    """Numbers of the whole workload: those of the sample times its share of the tokens."""
    scale = sum(costs) / sum(costs[number] for number in sampled)
    floor, seconds = statistics.median(floors), statistics.median(times) * scale
    return {
        "seconds": seconds,
        "runs": [time * scale for time in times],
        "sampled_texts": len(sampled),
        "texts": len(costs),
        "tokens_by_definition": sum(costs),
        **({} if counted is None else _counts(counted, scale, times[0])),
        "floor_tokens_per_second": floor,
        "floors": list(floors),
        "ideal_seconds": sum(costs) / floor,
        "ratio": seconds * floor / sum(costs),
        "megabytes": megabytes,
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _counts(counted: Counted, scale: float, seconds: float) -> dict[str, Any]:
    """What the network computed, of the whole workload, and its share of the first run's seconds."""
    return {
        "calls": round(counted.calls * scale),
        "sequences": round(counted.sequences * scale),
        "tokens_forward": round(counted.forward * scale),
        "tokens_backward": round(counted.backward * scale),
        "forward_share": counted.forward_seconds / seconds,
        "backward_share": counted.backward_seconds / seconds,
    }
