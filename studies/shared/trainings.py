"""Trainings as units of work: a model, its recipe, and the numbers that are saved of it.

A killed study goes on from the last checkpoint of the trainings that were running.
"""

import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path

import numpy as np

from pellucid.base.processes import Share
from pellucid.data.load import load_examples
from pellucid.data.shared.part_files import PARTS
from pellucid.evidence import transfers
from pellucid.models.composed.networks import Plan
from pellucid.text.example import Example
from pellucid.training.recipe import Recipe
from pellucid.training.train import train_model
from pellucid.training.trained_folder import TrainedFolder
from studies.shared.span_sharpness import span_sharpness
from studies.shared.units import Numbers, Unit, text_digest


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
    """One training. model: its name in tables. The recipe's seed distinguishes repetitions."""

    model: str
    plan: Plan
    recipe: Recipe

    @property
    def name(self) -> str:
        """The name of its unit."""
        return f"{self.model}-{self.recipe.seed}"


def seeded(model: str, plan: Plan, recipe: Recipe, seeds: int) -> list[Trial]:
    """The same training with the seeds 0, 1, ..."""
    return [Trial(model, plan, replace(recipe, seed=seed)) for seed in range(seeds)]


def trial_units(trials: Sequence[Trial], corpus: Corpus, out: Path, device: str) -> list[Unit]:
    """The work on trials, in order. Models lie in out/models while they are trained.

    A trial's numbers: model, seed, history (by epoch, on dev), right ("1" or "0" for each test text) and, of a
    self-explaining model, its sharpness on dev.
    """
    return [
        Unit(
            trial.name,
            _about(trial, corpus),
            partial(_run, trial, corpus, out / "models", device),
            trial.plan.encoder,
            trial.recipe.precision,
            device,
            trial.recipe.route,
        )
        for trial in trials
    ]


def _about(trial: Trial, corpus: Corpus) -> Numbers:
    return {
        "plan": trial.plan.record(),
        "recipe": trial.recipe.record(),
        "most": dict(corpus.most),
        "texts": _texts(corpus.source, tuple(corpus.most.items())),
    }


def _run(trial: Trial, corpus: Corpus, models: Path, device: str, share: Share) -> Numbers:
    """Train and judge one trial. The model, 90 MB and more, is deleted."""
    folder = models / trial.name
    parts = {split: _part(corpus.source, tuple(corpus.most.items()), split) for split in PARTS}
    model = train_model(
        parts,
        trial.plan,
        trial.recipe,
        folder,
        device,
        progress=lambda _, done, total: share(0.95 * done / total),
    )
    history = TrainedFolder(folder).history
    numbers = {
        "model": trial.model,
        "seed": trial.recipe.seed,
        "history": history,
        "right": "".join(str(int(one)) for one in transfers.right_answers(model, parts["test"])),
        "sharpness": span_sharpness(model, parts["dev"]) if "span_weights" in model.capabilities else None,
    }
    shutil.rmtree(folder)
    return numbers


@cache
def _part(source: str, most: tuple[tuple[str, int], ...], split: str) -> list[Example]:
    return Corpus(source, dict(most)).part(split)


@cache
def _texts(source: str, most: tuple[tuple[str, int], ...]) -> str:
    return text_digest({part: _part(source, most, part) for part in PARTS})


def right_on_shared_seeds(more: Sequence[Numbers], less: Sequence[Numbers]) -> tuple[np.ndarray, np.ndarray]:
    """`right_answers` of two models, for the seeds that both have, in order."""
    by_seed = [{run["seed"]: run for run in runs} for runs in (more, less)]
    seeds = sorted(by_seed[0].keys() & by_seed[1].keys())
    first, second = (right_answers([runs[seed] for seed in seeds]) for runs in by_seed)
    return first, second


def missing_seeds(trials: Sequence[Trial], finished: Collection[str]) -> dict[str, list[int]]:
    """Model -> the seeds whose trial's name is not among the finished ones."""
    missing: dict[str, list[int]] = {}
    for trial in trials:
        if trial.name not in finished:
            missing.setdefault(trial.model, []).append(trial.recipe.seed)
    return missing


def right_answers(runs: Sequence[Numbers]) -> np.ndarray:
    """[run text]: 100 where a run's model was right on a test text, else 0. So means are points."""
    return 100 * np.array([[int(one) for one in run["right"]] for run in runs])
