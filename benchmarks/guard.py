"""What the guard costs: the share of a call's time that goes to the trial and to asking texts again.

    python -m benchmarks.guard            # about two minutes; writes benchmarks/results/guard.json and docs/guard.md

Processor time of one thread, the median of several runs; the model is new in every run, so each pays for its trials.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

import pellucid
from benchmarks.attribution.models import folder_of
from benchmarks.attribution.results import machine_of, machine_words, publish, versions
from benchmarks.attribution.table import listed
from benchmarks.attribution.workload import texts_of
from pellucid.run import packing
from pellucid.run.parity import Guard
from pellucid.run.scheduler import Scheduler

ROOT = Path(__file__).parents[1]
RUNS = 5
CALLS = (
    ("gradient", "short", 64),
    ("gradient", "long", 8),
    ("occlusion", "short", 8),
)  # method, texts, how many
PARTS = (
    ("trial", packing, "_packing_by_trial"),
    ("whole texts run again", Guard, "check"),
    ("edited texts run again", Scheduler, "check"),
)


@dataclass
class Clock:
    """Seconds that one function took."""

    seconds: float = 0.0


@contextmanager
def timed(owner: Any, name: str, now: Callable[[], float] = time.process_time) -> Iterator[Clock]:
    """Add up what an attribute of a module or class takes while this is open. now: reads the clock."""
    clock, original = Clock(), getattr(owner, name)

    def measured(*args: Any, **settings: Any) -> Any:
        start = now()
        try:
            return original(*args, **settings)
        finally:
            clock.seconds += now() - start

    setattr(owner, name, measured)
    try:
        yield clock
    finally:
        setattr(owner, name, original)


def once(call: Callable[[], Any]) -> dict[str, float]:
    """Shares of a call's processor time, by part."""
    with (
        timed(*PARTS[0][1:]) as trial,
        timed(*PARTS[1][1:]) as whole_texts,
        timed(*PARTS[2][1:]) as edited_texts,
    ):
        start = time.process_time()
        call()
        whole = time.process_time() - start
    parts = (trial, whole_texts, edited_texts)
    return {
        "seconds": whole,
        **{name: clock.seconds / whole for (name, *_), clock in zip(PARTS, parts, strict=True)},
    }


def measured(folder: Path) -> dict[str, dict[str, float]]:
    """The median shares of every call, with a new model in each run and, in "later calls", one that was tried."""
    loaded, rows = pellucid.load(str(folder)), {}
    pellucid.explain(loaded, texts_of("few"), "gradient", progress=False)
    for method, kind, count in CALLS:
        texts = sorted(texts_of(kind), key=len)[:: max(1, len(texts_of(kind)) // count)]
        for when in ("first call", "later calls"):
            runs = []
            for _ in range(RUNS):
                model = replace(loaded) if when == "first call" else loaded
                runs.append(once(partial(pellucid.explain, model, texts, method, progress=False)))
            rows[f"{method}, {len(texts)} {kind} texts, {when}"] = {
                name: statistics.median(run[name] for run in runs) for name in runs[0]
            }
    return rows


def as_page(results: dict[str, Any]) -> str:
    """The page in Markdown."""
    machine, names = results["made_on"], [name for name, *_ in PARTS]
    rows = [
        (
            title,
            f"{row['seconds']:.2f}",
            *(f"{row[name]:.1%}" for name in names),
            f"**{sum(row[name] for name in names):.1%}**",
        )
        for title, row in results["calls"].items()
    ]
    return (
        "# What the guard costs\n\nMade by `python -m benchmarks.guard`; not written by hand. "
        f"On {machine_words(machine)}, one thread: all-MiniLM-L6-v2, short texts of 8 to 60 words, long ones of about "
        f"400. Shares of the call's processor time, medians of {RUNS} runs. A model is tried once for texts of up to "
        f"128 positions and for each further power of two, in its first call; later calls only ask again.\n\n"
        + listed(rows, ("", "seconds", *names, "together"))
        + "\n"
    )


def main() -> None:
    """Measure, keep the numbers, write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.parse_args()
    torch.set_num_threads(1)
    folder = folder_of("minilm", ROOT / "runs" / "benchmark")
    results = {"made_on": machine_of("cpu"), "versions": versions(), "calls": measured(folder)}
    publish(results, "guard", as_page(results), "guard")


if __name__ == "__main__":
    main()
