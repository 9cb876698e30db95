"""What workers gain: one process of one thread over two such processes, on the same texts.

    python -m benchmarks.workers    # about twenty minutes; writes benchmarks/results/workers.json and docs/workers-speed.md

all-MiniLM-L6-v2 in float32, sentences of pocket. Whole calls are timed, with the start of the processes and their own
copies of the model.
"""

import argparse
import statistics
import time
from collections.abc import Sequence
from typing import Any

import torch

import pellucid
from benchmarks.attribution.models import folder_of
from benchmarks.attribution.results import machine_of, machine_words, publish, versions
from benchmarks.attribution.table import listed
from benchmarks.guard import ROOT

WORKERS, MUST = 2, 1.8
CALLS = (
    ("integrated_gradients", 128, 3),
    ("integrated_gradients", 512, 1),
    ("integrated_gradients", 1024, 1),
)  # method, texts, runs


def seconds(folder: str, method: str, texts: list[str], workers: int) -> float:
    """Of one call, with a model that was just loaded."""
    model = pellucid.load(folder)
    start = time.perf_counter()
    pellucid.explain(model, texts, method, workers=workers, progress=False)
    return time.perf_counter() - start


def measured(folder: str, calls: Sequence[tuple[str, int, int]] = CALLS) -> list[dict[str, Any]]:
    """Median seconds with one process and with two, and the median of their ratios, for each call."""
    corpus = list(dict.fromkeys(example.segments[0] for example in pellucid.examples("pocket", "all")))
    rows = []
    for method, count, n_runs in calls:
        runs = [[seconds(folder, method, corpus[:count], workers) for workers in (1, WORKERS)] for _ in range(n_runs)]
        rows.append(
            {
                "method": method,
                "texts": len(corpus[:count]),
                "runs": n_runs,
                "one": statistics.median(run[0] for run in runs),
                "two": statistics.median(run[1] for run in runs),
                "ratio": statistics.median(run[0] / run[1] for run in runs),
            }
        )
    return rows


def as_page(results: dict[str, Any]) -> str:
    """The page in Markdown."""
    rows = [
        (
            row["method"],
            str(row["texts"]),
            str(row["runs"]),
            f"{row['one']:.1f}",
            f"{row['two']:.1f}",
            f"{row['ratio']:.2f}",
        )
        for row in results["calls"]
    ]
    return (
        "# What workers gain\n\nMade by `python -m benchmarks.workers`; not written by hand. "
        f"On {machine_words(results['made_on'])}, {results['made_on']['cores']} cores: all-MiniLM-L6-v2 in float32, "
        f"sentences of pocket. One process of one thread, and `workers={WORKERS}` of one thread each, with their start "
        f"and their own copies of the model; medians. Wanted: {MUST}.\n\n"
        + listed(rows, ("method", "texts", "runs", "seconds, one process", f"seconds, {WORKERS} workers", "ratio"))
        + "\n"
    )


def main() -> None:
    """Measure, keep the numbers, write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.parse_args()
    torch.set_num_threads(1)
    folder = str(folder_of("minilm", ROOT / "runs" / "benchmark"))
    results = {"made_on": machine_of("cpu"), "versions": versions(), "calls": measured(folder)}
    publish(results, "workers", as_page(results), "workers-speed")


if __name__ == "__main__":
    main()
