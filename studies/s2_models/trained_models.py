"""The models of the study, which the other studies of the paper explain: each is trained once, and lies in the work
folder.
"""

from dataclasses import replace
from pathlib import Path

from pellucid.base.processes import Share, no_report
from pellucid.models.classifiers.classifier import Classifier
from pellucid.text.example import Example
from pellucid.training.train import train_model
from studies.s2_models.tasks import SIZES, labels_of, task_parts
from studies.s3_accuracy.models import PRETRAINED, model_plan, model_recipe
from studies.shared.options import Option
from studies.shared.study import Settings
from studies.shared.units import Numbers, text_digest

PAPER_RATE = 2e-5
PHRASES = Option(
    "--phrases", {"action": "store_true", "help": "learn SST-5 from all distinct phrases, as at size paper"}
)


def parts_of(settings: Settings, task: str) -> dict[str, list[Example]]:
    """The texts of a task at this size."""
    phrases = bool(settings.own.get("phrases"))
    return task_parts(task, settings.data, settings.encoder, settings.size_name, phrases)


def training_about(settings: Settings, task: str, name: str) -> Numbers:
    """What the numbers of a model depend on besides its seed."""
    size, parts = SIZES[settings.size_name], parts_of(settings, task)
    counts = {f"n_{split}": len(texts) for split, texts in parts.items()}
    return {
        "task": task,
        "model": name,
        "width": size.width,
        "epochs": _epochs(settings, task, name),
        **counts,
        "texts": text_digest(parts),
    }


def trained(settings: Settings, task: str, seed: int, name: str = PRETRAINED, share: Share = no_report) -> Classifier:
    """A model of the study; a finished one is loaded, an interrupted training goes on."""
    recipe = model_recipe(name, _epochs(settings, task, name), seed)
    if settings.size_name == "paper" and name == PRETRAINED:
        recipe = replace(recipe, learning_rate=PAPER_RATE)
    return train_model(
        {split: parts_of(settings, task)[split] for split in ("train", "dev")},
        model_plan(name, labels_of(task, settings.data), settings.encoder, SIZES[settings.size_name].width),
        recipe,
        model_folder(settings, task, name, seed),
        settings.device,
        progress=lambda _, done, total: share(done / total),
    )


def model_folder(settings: Settings, task: str, name: str, seed: int) -> Path:
    """Where a model lies."""
    return settings.work / "models" / f"{task}-{name}-{seed}"


def _epochs(settings: Settings, task: str, name: str) -> int:
    size = SIZES[settings.size_name].tasks[task]
    return size.epochs if name == PRETRAINED else size.victims
