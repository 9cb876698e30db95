"""How good is the demo's classifier, and what does the habit that is planted in its data do to it?

Each seed trains the demo's two models, the self-explaining one and its plain twin, by the demo's recipe. Both are
judged on the test part as it is, and on the same requests without the planted line. So is the small model that comes
with the package.

    python -m studies showcase --data helpdesk --out studies/showcase

Finished trainings are read and not repeated; `--finished` reports them without more work.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

from pellucid.base.kinds import datasets
from pellucid.base.processes import Share
from pellucid.data.load import classes_of, load_examples
from pellucid.demo import demo_training
from pellucid.demo_first_page import CORPUS, SMALL_MODEL_SHA256, load_small_model
from pellucid.models.composed.networks import Plan
from pellucid.results.bootstrap import accuracy_interval
from pellucid.run.model import Model
from pellucid.run.predicting import predictions
from pellucid.text.example import Example
from pellucid.training.checkpoint import best_epoch
from pellucid.training.recipe import Recipe
from pellucid.training.train import train_model
from pellucid.training.trained_folder import TrainedFolder
from studies.shared.markdown import markdown_table
from studies.shared.options import DATA, ENCODER, FINISHED
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.units import Numbers, Unit, text_digest

PARTS = ("train", "dev", "test")
POOLERS = {"span": "self-explaining", "first_token": "plain twin"}
SMALL = "small model of the package"
CLEAN = "_clean"  # how the name of the same data without the habit ends
LABEL = "returns"  # the class that the habit goes with


@dataclass(frozen=True)
class ShowcaseSize:
    """How much is run. seeds: trainings of each model. most: examples by split (no entry: all)."""

    seeds: int
    most: Mapping[str, int] = field(default_factory=dict)


SIZES = {"tiny": ShowcaseSize(1, {"train": 32, "dev": 16, "test": 16}), "small": ShowcaseSize(3)}


@studies.add()
def showcase() -> Study:
    """How good is the demo's classifier, and what does the habit planted in its data do to it?"""
    return Study(
        sizes=SIZES,
        options=(DATA, ENCODER, FINISHED),
        work=UnitStages({"training": training_units, "small model": small_units}),
        summary=summary,
        page=page,
    )


def parts_of(settings: Settings) -> dict[str, list[Example]]:
    """The parts of the data, as many texts of each as the size says; "clean": the test part without the habit."""
    names = {part: (settings.data, part) for part in PARTS}
    if settings.data + CLEAN in datasets.names():
        names["clean"] = (settings.data + CLEAN, "test")
    return {name: load_examples(data, part)[: settings.size.most.get(part)] for name, (data, part) in names.items()}


def training_units(settings: Settings, records: Records) -> list[Unit]:
    """The trainings, seed by seed."""
    parts = parts_of(settings)
    units = []
    for seed in range(settings.size.seeds):
        for pooler in POOLERS:
            plan, recipe = demo_training(pooler, seed)
            plan = replace(plan, encoder=settings.encoder, labels=classes_of(settings.data, parts["train"]))
            about = {"plan": plan.record(), "recipe": recipe.record(), "texts": text_digest(parts)}
            work = partial(_trained, parts, plan, recipe, settings.out / "models" / f"{pooler}-{seed}")
            units.append(Unit(f"{pooler}-{seed}", about, work, settings.encoder, recipe.precision))
    return units


def _trained(parts: Mapping[str, Sequence[Example]], plan: Plan, recipe: Recipe, folder: Path, share: Share) -> Numbers:
    model = train_model(
        {part: parts[part] for part in ("train", "dev")},
        plan,
        recipe,
        folder,
        "cpu",
        progress=lambda _, done, total: share(0.95 * done / total),
    )
    history = TrainedFolder(folder).history
    numbers = {"model": plan.pooler, "seed": recipe.seed, "dev": history[best_epoch(history)]["dev_accuracy"]}
    shutil.rmtree(folder)
    return numbers | answers_to(model, parts)


def small_units(settings: Settings, records: Records) -> list[Unit]:
    """The model that comes with the package, on the data that it is of."""
    if settings.data != CORPUS:
        return []
    parts = parts_of(settings)
    return [Unit("small", {"file": SMALL_MODEL_SHA256, "texts": text_digest(parts)}, partial(_small, parts))]


def _small(parts: Mapping[str, Sequence[Example]], share: Share) -> Numbers:
    model, _ = load_small_model()
    answers = predictions(model, parts["dev"])
    right = [answer.label == text.label for answer, text in zip(answers, parts["dev"], strict=True)]
    return {"model": SMALL, "seed": 0, "dev": float(np.mean(right))} | answers_to(model, parts)


def answers_to(model: Model, parts: Mapping[str, Sequence[Example]]) -> Numbers:
    """The model's answers to the test texts, and to the same ones without the habit."""
    tests = {name: parts[name] for name in ("test", "clean") if name in parts}
    return {
        name: [
            [str(text.label), str(answer.label)] for answer, text in zip(predictions(model, texts), texts, strict=True)
        ]
        for name, texts in tests.items()
    }


def summary(settings: Settings, records: Records) -> Numbers:
    """Each model's accuracy over its seeds, and what changes without the habit."""
    runs = [run for stage in records.values() for run in stage.values()]
    names = list(dict.fromkeys(run["model"] for run in runs))
    return {"models": {name: _of_model([run for run in runs if run["model"] == name]) for name in names}}


def _of_model(runs: Sequence[Numbers]) -> Numbers:
    numbers: Numbers = {"seeds": len(runs), "dev": [100 * run["dev"] for run in runs]}
    numbers["test"] = [_accuracy(run["test"]) for run in runs]
    numbers["test_mean"] = float(np.mean([seed["mean"] for seed in numbers["test"]]))
    if "clean" in runs[0]:
        numbers["clean"] = [_accuracy(run["clean"]) for run in runs]
        numbers["clean_mean"] = float(np.mean([seed["mean"] for seed in numbers["clean"]]))
        numbers["turned"] = [_turned(run) for run in runs]
    return numbers


def _accuracy(answers: Sequence[Sequence[str]]) -> Numbers:
    share = accuracy_interval([label == answer for label, answer in answers])
    return {"mean": 100 * share.mean, "low": 100 * share.low, "high": 100 * share.high}


def _turned(run: Numbers) -> list[int]:
    """How many answers of the class become another one without the habit, and how many there are."""
    pairs = [(before, after) for (_, before), (_, after) in zip(run["test"], run["clean"], strict=True)]
    return [sum(before == LABEL != after for before, after in pairs), sum(before == LABEL for before, _ in pairs)]


def page(settings: Settings, numbers: Numbers) -> str:
    """The report as a Markdown page."""
    rows = [_row(POOLERS.get(name, name), model) for name, model in numbers["models"].items()]
    head = [
        "model",
        "seeds",
        "dev",
        "test, by seed",
        "test without the line",
        f"“{LABEL}” answers that turn without it",
    ]
    return (
        "# The demo's classifier\n\n"
        f"{markdown_table(head, rows)}\n\nAccuracy in per cent, of the epoch that was best on dev; brackets are 95 % "
        "intervals over test texts. The line is “Sent from my phone.”, which is planted in the data "
        "([datasheet](../../docs/datasheets/helpdesk.md)).\n"
    )


def _row(name: str, model: Numbers) -> list[str]:
    shown = [
        ", ".join("{mean:.1f} [{low:.1f}, {high:.1f}]".format(**seed) for seed in model.get(part, [])) or "–"
        for part in ("test", "clean")
    ]
    turned = ", ".join(f"{turned} of {answers}" for turned, answers in model.get("turned", [])) or "–"
    return [name, str(model["seeds"]), ", ".join(f"{dev:.1f}" for dev in model["dev"]), *shown, turned]
