"""Models of another model's architecture that are trained to answer as it does with other weights: one a divergence weight.

Wiegreffe & Pinter (2019), "Attention is not not Explanation", section 4. Their adversary is a whole new model with new random
weights of its own, trained with the base model's settings; so is ours, from the next seed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pellucid.base.errors import BadSetting
from pellucid.base.progress import Progress, silent
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.composed.composed import CONFIG, is_composed
from pellucid.models.composed.plan import Plan, read_plan
from pellucid.models.folders.configuration import read_object
from pellucid.text.example import Example
from pellucid.training.recipe import Recipe
from pellucid.training.train import train_model


def imitators(
    base: str | Path,
    parts: Mapping[str, Sequence[Example]],
    out: Path,
    *,
    divergence: str = "jsd",
    device: str = "cpu",
    progress: Progress = silent,
    **changes: Any,
) -> Callable[[float], Classifier]:
    """A function from a divergence weight, lambda, to the trained model; `imitation_curve` calls it.

    base: the folder of the model that is imitated. parts: "train" and "dev". out: each lambda gets a folder in it, such as
    `lambda_0.1`, in which interrupted training goes on and finished training is loaded. divergence: "jsd" or "kl". changes:
    fields of `Recipe` that differ from the base model's; its penalties and objectives are left away.
    Raises `BadSetting` for a model that was not trained here: its recipe is not known.
    """
    plan, recipe = plan_and_recipe(base, "a model that imitates it")

    def imitator(divergence_weight: float) -> Classifier:
        settings = {"model": str(base), "divergence": divergence, "divergence_weight": divergence_weight}
        own = {
            "seed": recipe.seed + 1,
            "penalties": {},
            "objectives": {"imitation": 1.0},
            "objective_settings": {"imitation": settings},
            **changes,
        }
        folder = out / f"lambda_{divergence_weight:g}"
        return train_model(parts, plan, replace(recipe, **own), folder, device, progress=progress)

    return imitator


# Trains further models by the recipe of one that was trained here, on other texts.


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
