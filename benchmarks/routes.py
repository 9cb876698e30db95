"""What each route of a pass takes beside eager: bare passes, a training step, and methods from end to end.

    python -m benchmarks.routes     # about fifteen minutes; writes benchmarks/results/routes.json and docs/routes.md

Seconds of the processor on one thread, medians of turns in which the routes follow each other, so that other programs
on the machine count little.
"""

import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor

import pellucid
from benchmarks.attribution.floor import columns_of
from benchmarks.attribution.models import folder_of
from benchmarks.attribution.results import machine_of, machine_words, publish, versions
from benchmarks.attribution.table import listed
from benchmarks.route_jobs import BATCH, JUDGED_TEXTS, TRAINED_BATCHES, Comparison, Compiled, Training
from pellucid.base.kinds import routes
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.routing.route_choice import EARLIER
from pellucid.models.routing.trial import GAIN, Route, difference, route_class

ROOT = Path(__file__).parents[1]
EAGER = "eager"
LENGTHS, TOKENS = (16, 64, 256), 640  # of a text and of a pass, which many texts share
TURNS, TURNS_OF_METHODS, TURNS_OF_JOBS = 5, 3, 1
METHODS: dict[str, dict[str, Any]] = {"gradient": {}, "occlusion": {}, "kernel_shap": {"n_samples": 32}}
N_TEXTS = 64

Numbers = Sequence[Tensor]  # by which routes are compared


def forward(network: Any, route: Route, columns: dict[str, Tensor]) -> Numbers:
    """A pass without a graph."""
    with torch.no_grad(), route.explaining():
        answer: Any = route.answer(network, columns)
    return [answer[0]]


def with_gradient(network: Any, route: Route, columns: dict[str, Tensor]) -> Numbers:
    """A pass and its gradient by the word embeddings."""
    rest = {name: column for name, column in columns.items() if name != "input_ids"}
    words = network.get_input_embeddings()(columns["input_ids"]).detach().requires_grad_()
    with route.explaining():
        logits = network(inputs_embeds=words, **rest).logits
    return torch.autograd.grad(logits[:, 0].sum(), words)


def training_step(network: Any, route: Route, columns: dict[str, Tensor]) -> Numbers:
    """A pass and its gradient by all weights; the optimizer's step is the same for all routes."""
    network.zero_grad()
    with route.training():
        logits = network(**columns).logits
    torch.nn.functional.cross_entropy(logits, logits.detach().argmin(-1)).backward()
    return [each.grad for each in network.parameters() if each.grad is not None]


PASSES = {
    "forward": forward,
    "forward and backward to the words": with_gradient,
    "training step": training_step,
}


def turns_of(runs: dict[str, Callable[[], Numbers]], turns: int) -> dict[str, Any]:
    """Of each route the median seconds of the processor, and the largest relative difference to eager's numbers."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    numbers: dict[str, Numbers] = {}
    for _ in range(turns):
        for name, run in runs.items():
            start = time.process_time()  # some routes compute in threads of their own
            result = run()
            seconds[name].append(time.process_time() - start)
            numbers[name] = [each.detach().clone() for each in result]
    return {
        name: {
            "seconds": statistics.median(seconds[name]),
            "ratio": statistics.median(own / ours for own, ours in zip(seconds[EAGER], seconds[name], strict=True)),
            "difference": max(
                (difference(ours, own) for ours, own in zip(numbers[name], numbers[EAGER], strict=True)),
                default=None,
            ),
        }
        for name in runs
    }


def measured_passes(model: Classifier, names: Sequence[str]) -> dict[str, Any]:
    """Of each kind of pass and length of a text: what the routes take, with tokens a second."""
    network = model.network
    route_of: dict[str, Route] = {name: route_class(name)(network) for name in names}
    if not Compiled.lacks():
        route_of[Compiled.name] = Compiled(network)
    records: dict[str, Any] = {}
    for kind, run in PASSES.items():
        for length in LENGTHS:
            rows = [[101, *range(2000, 2000 + length - 2), 102]] * (TOKENS // length)
            columns = columns_of(network, rows)
            runs = {name: partial(run, network, route_of[name], columns) for name in _able(list(route_of), kind)}
            for warm in runs.values():
                warm()
            record = turns_of(runs, TURNS)
            for numbers in record.values():
                numbers["tokens_per_second"] = length * len(rows) / numbers["seconds"]
            records[f"{kind}, {length} tokens a text"] = record
    network.zero_grad()
    return records


def _able(names: Sequence[str], kind: str) -> list[str]:
    """The routes that compute passes of this kind."""
    if kind == "forward":
        return list(names)
    known = [name for name in names if name in routes.names()]  # neither compiled, nor joined of several
    return [name for name in known if routes.get(name).facts["trains"] or kind != "training step"]


def measured_methods(model: Classifier, names: Sequence[str]) -> dict[str, Any]:
    """Of each method: what it takes from end to end by each route."""
    texts = [one.segments[0] for one in pellucid.examples("pocket", "all")][:: 1200 // N_TEXTS][:N_TEXTS]
    by_route = {name: replace(model, route=name) for name in names}

    def run(name: str, method: str, texts: Sequence[str] = texts) -> Numbers:
        results = pellucid.explain(by_route[name], texts, method, progress=False, **METHODS[method])
        return [torch.from_numpy(one.scores.copy()) for one in results]

    for name in names:
        for method in METHODS:
            run(name, method, texts[:1])
    return {
        f"`{_in_words(method)}`, {len(texts)} short texts": turns_of(
            {name: partial(run, name, method) for name in names}, TURNS_OF_METHODS
        )
        for method in METHODS
    }


def measured_jobs(model: Classifier, names: Sequence[str]) -> dict[str, Any]:
    """What whole jobs take by each route; of training also in bfloat16, where the processor has it."""
    trainings = {name: Training(precision="float32", route=name) for name in _able(names, "training step")}
    if (usual := Training()).precision != "float32":
        trainings[usual.precision] = usual
    for training in trainings.values():
        training()
    return {
        f"`compare`, all usual methods and metrics, {JUDGED_TEXTS} texts": turns_of(
            {name: Comparison(model, name) for name in names}, TURNS_OF_JOBS
        ),
        f"training with span attention, {TRAINED_BATCHES} steps of {BATCH} texts": turns_of(trainings, TURNS),
    }


def _in_words(method: str) -> str:
    settings = ", ".join(f"{name}={value}" for name, value in METHODS[method].items())
    return f"{method}({settings})" if settings else method


def trial_of(folder: Path) -> dict[str, Any]:
    """What "auto" chooses, why, and what the trial takes."""
    model = pellucid.load(folder, route="auto")
    _ = model.hash  # every explanation reads it
    with TemporaryDirectory() as cache:
        os.environ["PELLUCID_CACHE"] = cache  # no earlier trial answers
        start = time.perf_counter()
        choice = model.route_choice
    return {"chosen": choice.name, "why": choice.why, "seconds": time.perf_counter() - start}


def _cell(what: str, numbers: dict[str, Any]) -> str:
    return f"{numbers['ratio']:.2f} × as fast{_differs(what, numbers)}"


def _differs(what: str, numbers: dict[str, Any]) -> str:
    """Nothing of training steps: some gradients by weights, such as those by the keys' biases, are 0 but for
    rounding.
    """
    return (
        ""
        if what.startswith("training") or numbers["difference"] is None
        else f", differs by {numbers['difference']:.0e}"
    )


def as_page(results: dict[str, Any]) -> str:
    """The page in Markdown."""
    others = [name for name in (*results["routes"], Compiled.name, "bfloat16") if name != EAGER]
    rows = []
    for what, record in results["records"].items():
        own = record[EAGER].get("tokens_per_second")
        speed = f"{own:,.0f} tokens/s" if own else f"{record[EAGER]['seconds']:.2f} s"
        cells = [_cell(what, record[name]) if name in record else "–" for name in others]
        rows.append((what, speed, *cells))
    trial = results["trial"]
    return (
        "# What routes of a pass take\n\nMade by `python -m benchmarks.routes`; not written by hand. "
        f"On {machine_words(results['made_on'])}, one thread, PyTorch {results['versions']['torch']}: MiniLM with two "
        f"classes, float32, {TOKENS} tokens a pass; medians of {TURNS} turns, of methods {TURNS_OF_METHODS}; `compare` "
        f"ran once by each, with the compiling. Differences are the largest ones, as a share of the largest number. "
        f"What a route gains depends on the processor: where PyTorch's own products are near its peak, nothing. "
        f"torch.compile is no route, and is here to be compared with them; bfloat16 is what training computes in by "
        f"itself where the processor has it, beside float32 by eager; [what either costs in "
        f"accuracy](../studies/training_precision/README.md).\n\n"
        + listed(rows, ("what", EAGER, *(EARLIER.get(name, name) for name in others)))
        + f'\n\n`route="auto"` chose {EARLIER.get(trial["chosen"], trial["chosen"])} here ({trial["why"]}), by a trial of {trial["seconds"]:.2f} '
        f"seconds. It takes "
        f"another route than eager where that is {GAIN:.1f} times as fast in the trial.\n"
    )


def main() -> None:
    """Measure, keep the numbers, write the page."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    folder = folder_of("minilm", ROOT / "runs" / "benchmark")
    names = [name for name in routes.names() if not route_class(name).lacks()]
    trial = trial_of(folder)
    model = pellucid.load(folder)
    every = [*names, *({trial["chosen"]} - {*names})]  # what was chosen may join several
    results = {
        "made_on": machine_of("cpu"),
        "versions": versions(),
        "routes": every,
        "trial": trial,
        "records": measured_passes(model, names) | measured_methods(model, every) | measured_jobs(model, every),
    }
    publish(results, "routes", as_page(results), "routes")


if __name__ == "__main__":
    main()
