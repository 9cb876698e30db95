"""What chooses the epoch where an objective stands in place of the labels: its losses on dev, not the labels' accuracy."""

import torch

from pellucid.core.foundation.kinds import objectives
from pellucid.core.passes.batch import Batch
from pellucid.models.classifiers.classifier import Classifier
from pellucid.training.objective import ObjectiveContext, StepPart, objectives_of
from pellucid.training.recipe import Recipe


def objectives_on_dev(classifier: Classifier, dev: Batch, recipe: Recipe) -> dict[str, float]:
    """{"dev_objective": the weighted sum of mean losses on dev}, of those that replace the labels; {} where none does."""
    replacing = {
        name: weight
        for name, weight in recipe.objectives.items()
        if weight and objectives.get(name).facts["instead_of_labels"]
    }
    if not replacing:
        return {}
    replacements = objectives_of(ObjectiveContext(classifier, dev, recipe), replacing)
    network = classifier.network
    training = network.training
    network.eval()
    total = 0.0
    try:
        with torch.no_grad():
            for first in range(0, len(dev), recipe.batch_size):
                indices = range(first, min(first + recipe.batch_size, len(dev)))
                output = network(**classifier.place([dev.rows[index] for index in indices]))
                part = StepPart(indices, output, 0)
                total += sum(weight * float(each.losses(part).sum()) for weight, each in replacements)
    finally:
        network.train(training)
    return {"dev_objective": total / len(dev)}
