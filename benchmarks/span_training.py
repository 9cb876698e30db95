"""What the levers of a span model cost: the time of a training step with each, over a plain model's step on the same
texts.

    python -m benchmarks.span_training    # about ten minutes; writes benchmarks/results/span_training.json and docs/span-training.md

One thread, all-MiniLM-L6-v2, batches of 32 of pocket's sentences, in the precision that training chooses here. The
models take turns, a step each, so that whatever else the machine does meets them all.
"""

import argparse
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

import pellucid
from benchmarks.attribution.results import machine_of, machine_words, publish, versions
from benchmarks.attribution.table import listed
from pellucid.models.composed.composed import as_classifier, compose
from pellucid.models.composed.networks import Plan
from pellucid.training.recipe import Recipe, computes_in
from pellucid.training.steps import Steps, epoch_batches, steps_of
from studies.believable_spans.models import MODELS, JudgedModel

BATCH = 32
STEPS = 10_000  # that a training is long: rates and the number of spans depend on it
WARM, ROUNDS = 3, 24
PARTS = ("early", "late", "training")  # of which ratios are measured
EARLY, LATE = (
    0,
    STEPS - 1_000,
)  # done before the timed steps: nothing is sharp or taught yet, and everything is
JUDGED = (
    "plain",
    "entropy",
    "no_read_alone",
    "believable",
    "no_second_answer",
    "leave_out",
    "attributed",
    "same_spans",
    "soft",
    "unirex",
)
MUST = 1.6  # of a training of "believable"


def steps_of_model(model: JudgedModel) -> Steps:
    """The steps of a training that has not begun."""
    examples = pellucid.examples("pocket", "train")
    plan = Plan("minilm", model.pooler, model.pooler_settings, tuple(sorted({str(one.label) for one in examples})))
    recipe = replace(Recipe(batch_size=BATCH), **model.recipe)
    network, tokenizer = compose(plan, recipe.seed, [one.segments for one in examples])
    classifier = as_classifier(network, tokenizer, plan, "benchmark")
    classifier.network.train()
    return steps_of(classifier, classifier.encode(examples), recipe, STEPS)


def measured() -> dict[str, dict[str, float]]:
    """For each model the median seconds of a late step, its ratios to the plain model's step (median over rounds) early
    and late, and in a whole training, whose objectives begin where the recipe says.
    """
    steps = {name: steps_of_model(MODELS[name]) for name in JUDGED}
    early, late = (timed_after(steps, done) for done in (EARLY, LATE))
    rows = {}
    for name, each in steps.items():
        before, after = (_ratio(times[name], times["plain"]) for times in (early, late))
        begins = each.recipe.objectives_from if each.objectives else 0.0
        rows[name] = {
            "seconds": statistics.median(late[name]),
            "early": before,
            "late": after,
            "training": begins * before + (1 - begins) * after,
        }
    return rows


def timed_after(steps: Mapping[str, Steps], done: int) -> dict[str, list[float]]:
    """Seconds of each model's steps, after so many; the first ones are left out."""
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    batches = epoch_batches(steps["plain"].batch.lengths, BATCH, 0, 0)
    for number in range(WARM + ROUNDS):
        for name, each in steps.items():
            start = time.perf_counter()
            each.step(batches[number % len(batches)], done + number)
            seconds[name].append(time.perf_counter() - start)
    return {name: each[WARM:] for name, each in seconds.items()}


def _ratio(times: Sequence[float], plain: Sequence[float]) -> float:
    return statistics.median(a / b for a, b in zip(times, plain, strict=True))


def as_page(results: dict[str, Any]) -> str:
    """The page in Markdown."""
    rows = [
        (MODELS[name].title, f"{row['seconds']:.3f}", *(f"{row[part]:.2f}" for part in PARTS))
        for name, row in results["models"].items()
    ]
    return (
        "# What the levers of a span model cost\n\nMade by `python -m benchmarks.span_training`; not written by hand. "
        f"On {machine_words(results['made_on'])}, one thread, {results['precision']}: all-MiniLM-L6-v2, batches of 32 of "
        f"pocket's sentences. A step is the pass, the gradients and AdamW; the objectives read half of the texts "
        f"again. Medians of {ROUNDS} rounds in which every model makes one step on the same texts: early ones, before "
        f"weights are sharp and objectives begin, and late ones. A training has as many of both as its recipe says. "
        f"Wanted: {MUST} at most for a training of the believable model.\n\n"
        + listed(rows, ("model", "seconds a late step", *(f"{part} ÷ plain" for part in PARTS)))
        + "\n"
    )


def main() -> None:
    """Measure, keep the numbers, write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.parse_args()
    torch.set_num_threads(1)
    results = {
        "made_on": machine_of("cpu"),
        "versions": versions(),
        "precision": computes_in("auto", torch.device("cpu")),
        "models": measured(),
    }
    publish(results, "span_training", as_page(results), "span-training")


if __name__ == "__main__":
    main()
