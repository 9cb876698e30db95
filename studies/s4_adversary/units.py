"""The curve of one imitated model as a unit of work: a new model a λ, and how far its weights and answers lie."""

import shutil
import time
from dataclasses import asdict
from functools import partial

from pellucid.attention.weight_tests.changed_weights import imitation_curve
from pellucid.base.processes import Share
from pellucid.models.classifiers.classifier import Classifier
from pellucid.training.objectives.other_models import imitators
from pellucid.training.trained_folder import TrainedFolder
from studies.s4_fragility.trainings import Lesson, model_folder, trained, training_about
from studies.shared.attention_models import RECIPE, AttentionModel
from studies.shared.study import Settings
from studies.shared.units import Numbers, Unit

IMITATORS = "imitators"  # the folder of the new models beside the imitated ones


def imitation_unit(settings: Settings, model: AttentionModel, seed: int, lesson: Lesson) -> Unit:
    """One imitated model, by its name and seed."""
    size = settings.size
    return Unit(
        f"{model.name}-{seed}",
        training_about(model, seed, lesson)
        | {"divergence_weights": size.divergence_weights, "adversary": [size.train, size.epochs]},
        partial(_curve, settings, model, seed, lesson),
        precision=RECIPE.precision,
        device=settings.device,
    )


def _curve(settings: Settings, model: AttentionModel, seed: int, lesson: Lesson, share: Share) -> Numbers:
    """Train a model unless it is there, imitate it once a λ, and delete what was not there before."""
    began, folder, size = time.perf_counter(), model_folder(settings, model, seed), settings.size
    was_there = TrainedFolder(folder).is_complete
    base = trained(settings, model, seed, lesson)
    new_models = settings.work / IMITATORS / folder.name
    parts = {"train": lesson.parts["train"][: size.train], "dev": lesson.parts["dev"]}
    imitator = imitators(folder, parts, new_models, device=settings.device, epochs=size.epochs)

    def imitated(divergence_weight: float) -> Classifier:
        share(0.05 + 0.9 * sorted(size.divergence_weights).index(divergence_weight) / len(size.divergence_weights))
        return imitator(divergence_weight)

    points = imitation_curve(base, lesson.parts["test"], imitated, size.divergence_weights)
    if not settings.own["keep_models"]:
        shutil.rmtree(new_models)
        if not was_there:
            shutil.rmtree(folder)
    return {
        "variant": model.variant,
        "seed": seed,
        "points": [asdict(point) for point in points],
        "seconds": time.perf_counter() - began,
    }
