"""How often four kinds of models are right: a pretrained encoder against three that begin with random word vectors.

After Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP", Table 2. The paper
fine-tunes BERT; here the encoder is MiniLM. A Transformer of three blocks, a BiLSTM of four layers and a CNN with
filters of four widths learn from the same texts. CoLA is scored by the Matthews correlation, the others by accuracy.

    python -m studies s3_accuracy --task sst2 --data FOLDER --work work/s3_accuracy --out studies/s3_accuracy/sst2

FOLDER holds train, dev and test as JSON lines (of CoLA train and dev). Finished trainings are kept and not made again,
and a training that was interrupted goes on. `--size tiny --task pocket --data pocket` takes seconds.
"""

import shutil
import time
from functools import partial
from pathlib import Path

from pellucid.base.errors import UnknownName
from pellucid.base.processes import Share
from pellucid.explaining.answers import class_logits_of
from pellucid.training.train import train_model
from pellucid.training.trained_folder import TrainedFolder
from studies.s3_accuracy.models import TITLES, model_plan, model_recipe
from studies.s3_accuracy.numbers import summarise
from studies.s3_accuracy.page import as_page, as_picture
from studies.s3_accuracy.tasks import SIZES, TASKS, task_parts
from studies.shared.data_folders import corpus_title
from studies.shared.options import DATA, DEVICE, ENCODER, FINISHED, WORK, Option
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.units import Numbers, Unit, text_digest

TASK = Option("--task", {"choices": sorted(TASKS), "required": True})


@studies.add()
def s3_accuracy() -> Study:
    """How often are a pretrained encoder, a Transformer, a BiLSTM and a CNN right? Table 2 of Guan et al. (2019)."""
    return Study(
        sizes=SIZES,
        options=(TASK, DATA, WORK, ENCODER, DEVICE, FINISHED),
        work=UnitStages({"trainings": training_units}),
        summary=lambda settings, records: summarise(settings.own["task"], records, titled(settings)),
        page=lambda settings, numbers: as_page(numbers),
        pictures={"models.svg": lambda settings, numbers: as_picture(numbers)},
    )


def training_units(settings: Settings, records: Records) -> list[Unit]:
    """A training of each model with each seed, seed by seed, so that a study that is stopped early has whole rows.

    Raises `UnknownName` where the task does not have this size.
    """
    return [
        Unit(
            f"{name}-{seed}",
            about(settings, name) | {"seed": seed},
            partial(_trained, settings, name, seed),
            settings.encoder,
            device=settings.device,
        )
        for seed in range(_seeds(settings))
        for name in TITLES
    ]


def about(settings: Settings, name: str = "") -> Numbers:
    """What the numbers of a model depend on; without a name, what those of all models depend on."""
    task, size = settings.own["task"], settings.size
    shared = {"task": task, "seeds": _seeds(settings), "width": size.width}
    parts = task_parts(task, settings.data, settings.size_name)
    counts = {f"n_{split}": len(texts) for split, texts in parts.items()}
    epochs = size.epochs[task][name] if name else dict(size.epochs[task])
    return {**shared, **counts, "epochs": epochs, "texts": text_digest(parts)}


def titled(settings: Settings) -> Numbers:
    """What the numbers of all models depend on, and what the page calls the texts."""
    task = settings.own["task"]
    return about(settings) | {"title": corpus_title(TASKS[task].title, settings.data, task)}


def _seeds(settings: Settings) -> int:
    task = settings.own["task"]
    if task not in settings.size.seeds:
        sizes = [name for name, size in SIZES.items() if task in size.seeds]
        raise UnknownName(f"{task} has the sizes {', '.join(sizes)}.")
    seeds: int = settings.size.seeds[task]
    return seeds


def _trained(settings: Settings, name: str, seed: int, share: Share) -> Numbers:
    """Train a model, judge it on test, and delete it: the number of each text's label, and that of the predicted
    class.
    """
    task, began = settings.own["task"], time.perf_counter()
    labels, folder = TASKS[task].labels, model_folder(settings, name, seed)
    parts = task_parts(task, settings.data, settings.size_name)
    model = train_model(
        parts,
        model_plan(name, labels, settings.encoder, settings.size.width),
        model_recipe(name, settings.size.epochs[task][name], seed),
        folder,
        settings.device,
        progress=lambda _, done, total: share(0.95 * done / total),
    )
    answers = class_logits_of(model, parts["test"]).argmax(-1).tolist()
    numbers = {
        "model": name,
        "seed": seed,
        "labels": [labels.index(one.label or "") for one in parts["test"]],
        "answers": [labels.index(model.labels[number]) for number in answers],
        "history": TrainedFolder(folder).history,
        "seconds": time.perf_counter() - began,
    }
    shutil.rmtree(folder)
    return numbers


def model_folder(settings: Settings, name: str, seed: int) -> Path:
    """Where a model lies while it is trained."""
    return settings.work / settings.own["task"] / f"{name}-{seed}"
