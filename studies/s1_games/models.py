"""The classifiers of a task, trained once a seed, and their language head where this version can decode states."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pellucid
from pellucid.base.kinds import attributions
from pellucid.base.processes import Share, no_report
from pellucid.models.composed.networks import Plan
from pellucid.run.model import Model
from pellucid.text.example import Example
from pellucid.training.recipe import Recipe
from pellucid.training.train import train_model
from studies.s1_games.tasks import DECODED, LENS, training_parts
from studies.shared.study import Settings

NOT_HERE = "this version has no method of that name"
NO_HEAD = "this version cannot train a lens, and --lens names none"


def trained(settings: Settings, seed: int, share: Share = no_report) -> Model:
    """The classifier of a seed, which reads the first token's state. A finished one is loaded."""
    parts = training_parts(settings)
    labels = tuple(sorted({one.label for one in parts["train"] if one.label is not None}))
    recipe = Recipe(epochs=settings.size.epochs, batch_size=32, learning_rate=5e-5, seed=seed)
    return train_model(
        parts,
        Plan(settings.encoder, "first_token", {}, labels),
        replace(recipe, new_parts_factor=10.0),
        model_folder(settings, seed),
        settings.device,
        progress=lambda _, done, total: share(done / total),
    )


def model_folder(settings: Settings, seed: int) -> Path:
    """Where the classifier of a seed lies."""
    return settings.work / "models" / f"plain-{seed}"


def missing_method(settings: Settings, name: str) -> str:
    """Why a method cannot be run here, in words; "" where it can."""
    if name not in attributions.names():
        return NOT_HERE
    if name == DECODED and not settings.own["lens"] and LENS not in pellucid.__all__:
        return NO_HEAD
    return ""


def with_language_head(settings: Settings, seed: int) -> Model:
    """The classifier of a seed with the head of --lens; without that option, with a lens trained on its train texts."""
    folder = model_folder(settings, seed)
    source = settings.own["lens"] or str(_lens(settings, seed))
    head: dict[str, Any] = {"language_head": source}
    model: Model = pellucid.load(folder, device=settings.device, **head)
    return model


def _lens(settings: Settings, seed: int) -> Path:
    """The folder of a seed's own lens, which is trained where it is missing or was interrupted."""
    out = settings.work / "lenses" / f"plain-{seed}"
    if not (out / "lens.json").exists():
        texts: list[Example] = training_parts(settings)["train"]
        getattr(pellucid, LENS)(pellucid.load(model_folder(settings, seed)), texts, out=out, **settings.size.lens)
    return out
