"""One training of an attention model as a unit of work: what it answers on dev and test with its own weights and with
others.
"""

import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pellucid.base.processes import Share, no_report
from pellucid.models.classifiers.classifier import Classifier
from pellucid.text.example import Example
from pellucid.training.train import train_model
from pellucid.training.trained_folder import TrainedFolder
from pellucid.training.watch import Watch
from studies.shared.attention_answers import attention_answers
from studies.shared.attention_models import RECIPE, AttentionModel
from studies.shared.options import Option
from studies.shared.study import Settings
from studies.shared.units import Numbers, Unit, text_digest

Parts = Mapping[str, Sequence[Example]]
JUDGED = ("dev", "test")
KEEP_MODELS = Option(
    "--keep-models",
    {
        "action": "store_true",
        "help": "leave trained models in the work folder, 50 MB each, to measure more on them",
    },
)


@dataclass(frozen=True)
class Lesson:
    """What a model learns from, and how long. parts: "train", "dev", "test"; labels: its classes; width: of
    `AttentionModel.plan`.
    """

    parts: Parts
    labels: tuple[str, ...]
    epochs: int
    batch_size: int = 32
    width: int | None = None


def training_unit(settings: Settings, model: AttentionModel, seed: int, lesson: Lesson) -> Unit:
    """A training by its model and seed."""
    return Unit(
        f"{model.name}-{seed}",
        training_about(model, seed, lesson),
        partial(_answers, settings, model, seed, lesson),
        precision=RECIPE.precision,
        device=settings.device,
    )


def training_about(model: AttentionModel, seed: int, lesson: Lesson) -> Numbers:
    """What the numbers of a training depend on."""
    return {
        "plan": model.plan(lesson.labels, lesson.width).record(),
        "recipe": model.recipe(lesson.epochs, seed, lesson.batch_size).record(),
        **{f"n_{split}": len(texts) for split, texts in lesson.parts.items()},
        "texts": text_digest(lesson.parts),
    }


def trained(
    settings: Settings,
    model: AttentionModel,
    seed: int,
    lesson: Lesson,
    share: Share = no_report,
    watch: Watch | None = None,
) -> Classifier:
    """The model of one training in the work folder; a finished one is loaded, an interrupted one goes on."""
    return train_model(
        lesson.parts,
        model.plan(lesson.labels, lesson.width),
        model.recipe(lesson.epochs, seed, lesson.batch_size),
        model_folder(settings, model, seed),
        settings.device,
        progress=lambda _, done, total: share(0.95 * done / total),
        watch=watch,
    )


@contextmanager
def trained_model(
    settings: Settings, model: AttentionModel, seed: int, lesson: Lesson, share: Share
) -> Iterator[Classifier]:
    """The model of one training, deleted afterwards unless it is to stay; after an error it is left, so that work can
    go on.
    """
    yield trained(settings, model, seed, lesson, share)
    if not settings.own["keep_models"]:
        shutil.rmtree(model_folder(settings, model, seed))


def model_folder(settings: Settings, model: AttentionModel, seed: int) -> Path:
    """Where a model lies while it is trained, and afterwards with --keep-models."""
    return settings.work / f"{model.name}-{seed}"


def _answers(settings: Settings, model: AttentionModel, seed: int, lesson: Lesson, share: Share) -> Numbers:
    """Train a model, ask it on dev and test, and delete it unless it is to stay."""
    began, folder = time.perf_counter(), TrainedFolder(model_folder(settings, model, seed))
    with trained_model(settings, model, seed, lesson, share) as classifier:
        measured = {split: attention_answers(classifier, lesson.parts[split]) for split in JUDGED}
        history = folder.history
    return {
        "pooler": model.pooler,
        "variant": model.variant,
        "weight": model.weight,
        "layers": model.layers,
        "seed": seed,
        **measured,
        "history": history,
        "seconds": time.perf_counter() - began,
    }
