"""Many trainings as units of work: a model, its recipe, and what is kept of it.

A killed study goes on from the last checkpoint of the trainings that were under way.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path

import numpy as np

from pellucid.core.foundation.progress import Progress
from pellucid.core.text.example import Example
from pellucid.datasets.load import load_examples
from pellucid.datasets.shared.part_files import PARTS
from pellucid.evaluation.protocols import transfers
from pellucid.models.composed.plan import Plan
from pellucid.studies.sharpness import sharpness
from pellucid.studies.units import Numbers, Share, Unit, digest, place, run_units
from pellucid.training.recipe import Recipe
from pellucid.training.train import train_model


@dataclass(frozen=True)
class Corpus:
    """A data set by folder or name, and how many examples of which split are used (no entry: all)."""

    source: str
    most: Mapping[str, int] = field(default_factory=dict)

    def part(self, split: str) -> list[Example]:
        """The first examples of a split."""
        return load_examples(self.source, split)[: self.most.get(split)]


@dataclass(frozen=True)
class Trial:
    """One training: `model` is what tables call it; the recipe's seed tells it from its repetitions."""

    model: str
    plan: Plan
    recipe: Recipe

    @property
    def name(self) -> str:
        return f"{self.model}-{self.recipe.seed}"


def seeded(model: str, plan: Plan, recipe: Recipe, seeds: int) -> list[Trial]:
    """The same training with the seeds 0, 1, ..."""
    return [Trial(model, plan, replace(recipe, seed=seed)) for seed in range(seeds)]


def run_trials(
    trials: Sequence[Trial], corpus: Corpus, out: Path, device: str, processes: int, told: Progress
) -> list[Numbers]:
    """Every trial's numbers, in order; those missing in out/runs are trained.

    A trial's numbers: model, seed, history (by epoch, on dev), right ("1" or "0" for each test text) and, of a
    self-explaining model, its sharpness on dev. Raises what `run_units` raises.
    """
    units = [
        Unit(
            trial.name,
            _about(trial, corpus),
            partial(_run, trial, corpus, out / "models", device),
            trial.plan.encoder,
            trial.recipe.precision,
            device,
        )
        for trial in trials
    ]
    found = run_units(units, out / "runs", processes, told, "training")
    return [found[trial.name] for trial in trials]


def _about(trial: Trial, corpus: Corpus) -> Numbers:
    return {
        "plan": trial.plan.record(),
        "recipe": trial.recipe.record(),
        "most": dict(corpus.most),
        "texts": _texts(corpus.source, tuple(corpus.most.items())),
    }


def _run(trial: Trial, corpus: Corpus, models: Path, device: str, share: Share) -> Numbers:
    """Train and judge one trial; the model itself, 90 MB and more, is let go."""
    folder = models / trial.name
    parts = {split: _part(corpus.source, tuple(corpus.most.items()), split) for split in PARTS}
    model = train_model(
        parts, trial.plan, trial.recipe, folder, device, lambda _, done, total: share(0.95 * done / total)
    )
    held = json.loads((folder / "config.json").read_text(encoding="utf-8"))["trained"]
    found = {
        "model": trial.model,
        "seed": trial.recipe.seed,
        "history": held["history"],
        "right": "".join(str(int(one)) for one in transfers.right_answers(model, parts["test"])),
        "sharpness": sharpness(model, parts["dev"]) if "span_weights" in model.capabilities else None,
    }
    shutil.rmtree(folder)
    return found


@cache
def _part(source: str, most: tuple[tuple[str, int], ...], split: str) -> list[Example]:
    return Corpus(source, dict(most)).part(split)


@cache
def _texts(source: str, most: tuple[tuple[str, int], ...]) -> str:
    return digest({part: _part(source, most, part) for part in PARTS})


def over_seeds(more: Sequence[Numbers], less: Sequence[Numbers]) -> tuple[np.ndarray, np.ndarray]:
    """What `right_answers` gives of two models, for the seeds that both have, in order."""
    by_seed = [{run["seed"]: run for run in runs} for runs in (more, less)]
    seeds = sorted(by_seed[0].keys() & by_seed[1].keys())
    first, second = (right_answers([runs[seed] for seed in seeds]) for runs in by_seed)
    return first, second


def finished(trials: Sequence[Trial], out: Path) -> list[Trial]:
    """Those whose numbers are there."""
    return [trial for trial in trials if place(out / "runs", trial.name).exists()]


def unfinished(every: Sequence[Trial], wanted: Sequence[Trial]) -> dict[str, list[int]]:
    """The seeds that are missing of each model."""
    missing: dict[str, list[int]] = {}
    for trial in every:
        if trial not in wanted:
            missing.setdefault(trial.model, []).append(trial.recipe.seed)
    return missing


def seeds_listed(seeds: Sequence[int]) -> str:
    """Seeds as a page lists them."""
    return f"{'seed' if len(seeds) == 1 else 'seeds'} {', '.join(map(str, seeds))}"


def right_answers(runs: Sequence[Numbers]) -> np.ndarray:
    """[run text]: 100 where a run's model was right on a test text, else 0, so that means are points."""
    return 100 * np.array([[int(one) for one in run["right"]] for run in runs])
