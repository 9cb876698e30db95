"""Does explaining itself cost accuracy, and how sharp may it be? Table 1 and figure 2 of Sun et al. (2020).

"Self-Explaining Structures Improve NLP Models": the plain encoder, AvgSelf-Explaining (trained with equal weights for
all spans) and self-explaining models with lambda from 0 to 5, on SST-5 and SNLI; also the mean of all pieces, which the
paper lacks. The epoch and lambda are chosen on dev; test is read for the report.

    python -m studies s0_accuracy --task sst5 --data FOLDER --out studies/s0_accuracy/sst5

FOLDER holds train, dev and test as JSON lines. Finished trainings are kept and not repeated.
"""

from dataclasses import replace

from pellucid.base.errors import BadInput, UnknownName
from studies.s0_accuracy.page import TASKS, as_page, as_picture, summarise
from studies.s0_accuracy.trials import LABELS, SIZES, AccuracySize, trials
from studies.shared.data_folders import corpus_title
from studies.shared.options import DATA, DEVICE, ENCODER, FINISHED, Option
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.trainings import Corpus, missing_seeds, trial_units
from studies.shared.units import Numbers, Unit
from studies.shared.what_ran import encoder_title

TASK = Option("--task", {"choices": sorted(LABELS), "required": True})
SEEDS = Option("--seeds", {"type": int, "help": "training seeds; the size says how many when not given"})
MODELS = Option("--models", {"nargs": "+", "help": "train these models alone, such as lambda-0.5"})


@studies.add()
def s0_accuracy() -> Study:
    """Does explaining itself cost accuracy? Table 1 and figure 2 of Sun et al. (2020)."""
    encoder = ENCODER.changed(default="", help="minilm, a folder, or a hub name; the size says which when not given")
    return Study(
        sizes=SIZES,
        options=(TASK, DATA, SEEDS, FINISHED, encoder, MODELS, DEVICE),
        work=TRAININGS,
        summary=summary,
        page=lambda settings, numbers: as_page(settings.own["task"], settings.size_name, numbers),
        pictures={"picture.svg": lambda settings, numbers: as_picture(settings.own["task"], numbers)},
    )


def size_of(settings: Settings) -> AccuracySize:
    """How much is run of the task, with the seeds and the encoder of the command line.

    Raises `UnknownName` where the task does not have this size.
    """
    task = settings.own["task"]
    if task not in settings.size:
        sizes = [name for name, tasks in SIZES.items() if task in tasks]
        raise UnknownName(f"{task} has the sizes {', '.join(sizes)}.")
    size = settings.size[task]
    seeds, encoder = settings.own["seeds"] or size.seeds, settings.encoder or size.encoder
    return replace(size, seeds=seeds, encoder=encoder)


def training_units(settings: Settings, records: Records) -> list[Unit]:
    """All trainings. Raises `BadInput` where no plain model is finished or wanted: the others are compared with it."""
    size = size_of(settings)
    every = trials(settings.own["task"], size)
    units = trial_units(every, Corpus(settings.data, size.most), settings.out, settings.device)
    included = [one for one, unit in zip(every, units, strict=True) if TRAININGS.is_included(settings, unit)]
    if not any(trial.model == "plain" for trial in included):
        raise BadInput(f"No plain twin is finished in {settings.out}; run without --finished first.")
    return units


def is_wanted(settings: Settings, unit: Unit) -> bool:
    """Whether --models names the unit's model, or names none."""
    return not settings.own["models"] or unit.name.rpartition("-")[0] in settings.own["models"]


TRAININGS = UnitStages({"training": training_units}, wanted=is_wanted)


def summary(settings: Settings, records: Records) -> Numbers:
    """The numbers of all finished trainings, and which are missing."""
    finished = records["training"]
    every = trials(settings.own["task"], size_of(settings))
    task, size = settings.own["task"], size_of(settings)
    names = {"title": corpus_title(TASKS[task], settings.data, task), "encoder": encoder_title(size.encoder)}
    return summarise(list(finished.values())) | names | {"unfinished": missing_seeds(every, finished)}
