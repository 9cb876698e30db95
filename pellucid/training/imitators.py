"""Models of another model's architecture that are trained to answer as it does with other weights: one a divergence weight.

Wiegreffe & Pinter (2019), "Attention is not not Explanation", section 4. Their adversary is a whole new model with new random
weights of its own, trained with the base model's settings; so is ours, from the next seed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pellucid.core.foundation.progress import Progress, silent
from pellucid.core.text.example import Example
from pellucid.models.classifiers.classifier import Classifier
from pellucid.training.retraining import plan_and_recipe
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
