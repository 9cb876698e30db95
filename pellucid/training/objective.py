"""An objective: what a training learns besides the labels, or instead of them, with a pass or a model of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from pellucid.core.foundation.kinds import objectives
from pellucid.core.passes.batch import Batch, Row
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.output import Output
from pellucid.training.recipe import Recipe


@dataclass(frozen=True, eq=False)
class ObjectiveContext:
    """What an objective is made from: the classifier before its first step, the encoded train texts and the recipe."""

    classifier: Classifier
    train: Batch
    recipe: Recipe

    def rows(self, indices: Sequence[int]) -> list[Row]:
        """The rows of some train texts."""
        return [self.train.rows[index] for index in indices]

    def autocast(self) -> torch.autocast:
        """The context that the passes of training run in."""
        return self.recipe.autocast(self.classifier.device)


@dataclass(frozen=True, eq=False)
class StepPart:
    """Texts of one step that are computed at once.

    indices: their numbers among the train texts. output: what the network answered to them, with a graph. done: how many
    steps were made before.
    """

    indices: Sequence[int]
    output: Output
    done: int


class Objective(Protocol):
    """One objective of one training; it keeps nothing from step to step, so that a killed training can go on."""

    def losses(self, part: StepPart) -> Tensor:
        """[example]: a finite number for each text, less is better; training minimises their mean times the weight."""
        ...


def objectives_of(
    context: ObjectiveContext, weights: Mapping[str, float] | None = None
) -> list[tuple[float, Objective]]:
    """Objectives with their weights, None for all of the recipe; those of weight 0 are not made, so they ask for nothing."""
    recipe = context.recipe
    entries = [
        (float(weight), objectives.get(name))
        for name, weight in (recipe.objectives if weights is None else weights).items()
        if weight
    ]
    settings = recipe.objective_settings
    return [
        (weight, entry.make(context, **entry.settings(dict(settings.get(entry.name, {})))))
        for weight, entry in entries
    ]
