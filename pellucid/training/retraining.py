"""Trains further models by the recipe of one that was trained here, on other texts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.progress import Progress, silent
from pellucid.core.text.example import Example
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.composed.composed import CONFIG, is_composed
from pellucid.models.composed.plan import Plan, read_plan
from pellucid.models.folders.json_object import read_object
from pellucid.training.recipe import Recipe
from pellucid.training.train import train_model


def retrainer(
    base: str | Path, out: Path, *, device: str = "cpu", progress: Progress = silent
) -> Callable[[Mapping[str, Sequence[Example]], str], Classifier]:
    """A function from texts ("train" and "dev") and a name to a model that is trained on them as the one in `base` was.

    out: each name gets a folder in it, in which interrupted training goes on and finished training is loaded. Raises `BadSetting`
    for a model that was not trained here: its recipe is not known.
    """
    plan, recipe = plan_and_recipe(base, "another model")

    def train(parts: Mapping[str, Sequence[Example]], name: str) -> Classifier:
        return train_model(parts, plan, recipe, out / name, device, progress=progress)

    return train


def plan_and_recipe(base: str | Path, what: str) -> tuple[Plan, Recipe]:
    """How a model was built and trained; what: the model that shall be trained by it, for messages.

    Raises `BadSetting` for a folder without a recipe, and for a model that began with another classifier.
    """
    values: dict[str, Any] = read_object(Path(base) / CONFIG) if is_composed(base) else {}
    record = values.get("trained", {}).get("recipe")
    if record is None:
        raise BadSetting(
            f"{base} has no recipe, by which {what} is trained; give a folder that pellucid train wrote."
        )
    plan = read_plan(values)
    if plan.started_from:
        raise BadSetting(
            f"{base} began with the encoder of another classifier, which {what} would lack; give a model that was trained from an "
            "encoder."
        )
    return replace(plan, trained={}), Recipe(**record)
