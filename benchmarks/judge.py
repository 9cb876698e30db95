"""What a comparison costs: twelve methods under all metrics on 100 sentences of SST-2, with the settings of
`which_explanation`.

    python -m benchmarks.judge --data FOLDER     # ten minutes of two cores; writes benchmarks/results/judge.json and docs/judge-speed.md

FOLDER has SST-2's sentences as test.jsonl. Seconds are of the clock, with as many threads as there are cores: give a
machine with nothing else to do. The classifier is MiniLM with a head fitted to the package's own sentences.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import torch

import pellucid
from benchmarks.attribution.memory import peak, resident
from benchmarks.attribution.models import folder_of
from benchmarks.attribution.results import cores, machine_of, machine_words, publish, versions
from benchmarks.attribution.table import listed
from benchmarks.guard import Clock, timed
from pellucid.attacks.explained_answers import RowCounter
from pellucid.comparison.checks.trained_again import CountingModel
from pellucid.text.example import Example
from studies.shared.text_choice import with_smallest_digests
from studies.which_explanation.methods import METHODS, metric_choices

ROOT = Path(__file__).parents[1]
N_TEXTS, FEW_TEXTS, LONGEST = 100, 32, 24
TARGETS = {
    "minutes": ("12 methods × all metrics, 100 texts: minutes", 8.0, 5.0),
    "evaluations": ("evaluations, the guard's too, ÷ distinct edited rows", 1.05, 1.0),
    "outside": ("share of the time outside the network", 0.15, 0.08),
    "again": ("a finished folder again: seconds beyond start-up", 2.0, 1.0),
    "gigabytes": ("peak memory beyond the model: GB", 0.5, 0.3),
}


@contextmanager
def timed_network(network: torch.nn.Module) -> Iterator[Clock]:
    """Add up what forward passes and gradients take while this is open."""
    clock, starts = Clock(), []

    def begin(*_: Any) -> None:
        starts.append(time.perf_counter())

    def end(*_: Any) -> None:
        clock.seconds += time.perf_counter() - starts.pop()

    handles = (network.register_forward_pre_hook(begin), network.register_forward_hook(end))
    try:
        with timed(torch.autograd, "grad", time.perf_counter) as gradients:
            yield clock
        clock.seconds += gradients.seconds
    finally:
        for handle in handles:
            handle.remove()


def texts_of(data: Path) -> list[Example]:
    """The judged sentences, as `which_explanation` chooses them."""
    short = [one for one in pellucid.examples(data / "test.jsonl") if len(one.text.split()) <= LONGEST]
    return with_smallest_digests(short, N_TEXTS)


def compared(model: Any, texts: Sequence[Example], folder: Path | None = None) -> float:
    """Seconds of the whole comparison."""
    start = time.perf_counter()
    choices = metric_choices(None, has_reason=False)
    pellucid.compare(model, texts, list(METHODS), list(choices.values()), folder=folder, progress=False)
    return time.perf_counter() - start


def whole(folder: Path, texts: Sequence[Example]) -> dict[str, float]:
    """Time, evaluations and a finished folder read again; in the same run."""
    model = pellucid.load(folder)
    distinct: Any = RowCounter(model)
    counter: Any = CountingModel(distinct)
    with tempfile.TemporaryDirectory() as work, timed_network(model.network) as clock:
        seconds = compared(counter, texts, Path(work) / "compared")
        network = clock.seconds
        again = compared(counter, texts, Path(work) / "compared")
    return {
        "minutes": seconds / 60,
        "evaluations": counter.rows_read / distinct.rows,
        "outside": 1 - network / seconds,
        "again": again,
    }


def megabytes(folder: Path, texts: Sequence[Example]) -> float:
    """Peak memory beyond what the process held with the model alone."""
    model = pellucid.load(folder)
    before = resident("cpu")
    with peak("cpu", before) as growth:
        compared(model, texts)
    return growth.megabytes


def as_page(results: dict[str, Any]) -> str:
    """The page in Markdown."""
    values = results["values"]
    rows = [(title, f"{values[name]:.2f}", f"≤ {must:g}", f"≤ {aim:g}") for name, (title, must, aim) in TARGETS.items()]
    n_texts, n_metrics = results["texts"], results["metrics"]
    return (
        "# What a comparison costs\n\nMade by `python -m benchmarks.judge --data FOLDER`; not written by hand. "
        f"On {machine_words(results['made_on'])}, {results['made_on']['cores']} cores: MiniLM with two classes, "
        f"{n_texts} sentences of SST-2 of at most {LONGEST} words, twelve methods and random scores with the settings "
        f"of the study `which_explanation`, {n_metrics} metrics.\n\n"
        + listed(rows, ("what", "measured", "must", "aim"))
        + f"\n\nPeak memory with {FEW_TEXTS} of the texts: {values['gigabytes_of_few']:.2f} GB.\n"
    )


def main() -> None:
    """Measure, keep the numbers, write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    torch.set_num_threads(cores())
    folder, texts = folder_of("minilm", ROOT / "runs" / "benchmark"), texts_of(data)
    memory = partial(megabytes, folder)
    values = {"gigabytes_of_few": memory(texts[:FEW_TEXTS]) / 1e3, "gigabytes": memory(texts) / 1e3}
    results = {
        "made_on": machine_of("cpu"),
        "versions": versions(),
        "texts": len(texts),
        "metrics": len(metric_choices(None, has_reason=False)),
        "values": values | whole(folder, texts),
    }
    publish(results, "judge", as_page(results), "judge-speed")


if __name__ == "__main__":
    main()
