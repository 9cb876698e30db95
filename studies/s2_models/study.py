"""How often the models are right that the other studies of the paper explain: four data sets of sentiment, two kinds of
victims.

After Wu and Ong (2021), "On Explaining Your Explanations of BERT: An Empirical Study with Sequence Classification",
Table 3. The paper fine-tunes BERT; here the encoder is MiniLM, and the epoch is chosen on dev (the released code
chooses it on test). A Transformer and a BiLSTM that begin with random vectors learn SST-5 too.

    python -m studies s2_models --data FOLDER --work work/s2 --out studies/s2_models --processes 2

FOLDER holds the folders sst5, semeval2017_task4, imdb and yelp5, each with train, dev and test as JSON lines. The
trained models stay in WORK/models, where s2_deletion, s2_agreement and s2_words find them. --phrases learns SST-5 from
all distinct phrases, which need the field `tree`. Finished trainings are kept and not made again. `--size tiny --data
pocket` takes seconds.
"""

import time
from functools import partial

from pellucid.base.processes import Share
from pellucid.explaining.answers import class_logits_of
from pellucid.training.trained_folder import TrainedFolder
from studies.s2_models.numbers import summarise
from studies.s2_models.page import as_page, as_picture
from studies.s2_models.tasks import SIZES, labels_of, models_of, title_of
from studies.s2_models.trained_models import (
    PHRASES,
    model_folder,
    parts_of,
    trained,
    training_about,
)
from studies.shared.options import DATA, DEVICE, ENCODER, FINISHED, WORK
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.units import Numbers, Unit

FOLDERS = DATA.changed(help="folder with the folders sst5, semeval2017_task4, imdb, yelp5; or pocket")


@studies.add()
def s2_models() -> Study:
    """How often are models of sentiment right on four data sets? Table 3 of Wu and Ong (2021)."""
    return Study(
        sizes=SIZES,
        options=(FOLDERS, WORK, ENCODER, PHRASES, DEVICE, FINISHED),
        work=UnitStages({"trainings": training_units}),
        summary=lambda settings, records: summarise(about(settings), records),
        page=lambda settings, numbers: as_page(numbers),
        pictures={"models.svg": lambda settings, numbers: as_picture(numbers)},
    )


def training_units(settings: Settings, records: Records) -> list[Unit]:
    """Each model on each data set, seed by seed, so that a study that is stopped early has whole rows."""
    return [
        Unit(
            f"{task}-{name}-{seed}",
            training_about(settings, task, name) | {"seed": seed},
            partial(_answers, settings, task, name, seed),
            settings.encoder,
            device=settings.device,
        )
        for seed in range(settings.size.seeds)
        for task in settings.size.tasks
        for name in models_of(task)
    ]


def about(settings: Settings) -> Numbers:
    """What all numbers depend on."""
    tasks = {}
    for task in settings.size.tasks:
        parts = parts_of(settings, task)
        counts = {f"n_{split}": len(texts) for split, texts in parts.items()}
        tasks[task] = {"title": title_of(task, settings.data), "labels": labels_of(task, settings.data), **counts}
    phrases = settings.size.phrases or settings.own["phrases"]
    return {"tasks": tasks, "seeds": settings.size.seeds, "width": settings.size.width, "phrases": phrases}


def _answers(settings: Settings, task: str, name: str, seed: int, share: Share) -> Numbers:
    """Train a model and judge it on test: the number of each text's label, and that of the predicted class."""
    began, labels = time.perf_counter(), labels_of(task, settings.data)
    model = trained(settings, task, seed, name, lambda done: share(0.95 * done))
    texts = parts_of(settings, task)["test"]
    answers = class_logits_of(model, texts).argmax(-1).tolist()
    return {
        "task": task,
        "model": name,
        "seed": seed,
        "labels": [labels.index(one.label or "") for one in texts],
        "answers": [labels.index(model.labels[number]) for number in answers],
        "history": TrainedFolder(model_folder(settings, task, name, seed)).history,
        "digest": model.hash,
        "seconds": time.perf_counter() - began,
    }
