"""SST-2: does span attention cost accuracy? Five seeds against the plain twin, same encoder, budget and seeds.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", table 1 claims a gain on SST-5 and SNLI; here the
question is whether the self-explaining model is at least no worse on a small encoder. The epoch is chosen on dev;
test is read once, for the report.

    python -m studies sst2_twins --data FOLDER --out studies/sst2_twins

FOLDER holds train.jsonl, dev.jsonl and test.jsonl (or .gz). Finished runs are kept and not repeated.
"""

from studies.shared.data_folders import corpus_title
from studies.shared.options import DATA, ENCODER, FINISHED
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.trainings import Corpus, missing_seeds, trial_units
from studies.shared.units import Numbers, Unit
from studies.sst2_twins.page import as_page, summarise
from studies.sst2_twins.trials import trials


@studies.add()
def sst2_twins() -> Study:
    """Does span attention cost accuracy on SST-2? Five seeds against the plain twin."""
    return Study(
        sizes={"small": None},
        options=(DATA, ENCODER, FINISHED),
        work=UnitStages({"training": training_units}),
        summary=summary,
        page=lambda settings, numbers: as_page(numbers),
    )


def training_units(settings: Settings, records: Records) -> list[Unit]:
    """All trainings."""
    return trial_units(trials(settings.encoder), Corpus(settings.data), settings.out, "cpu")


def summary(settings: Settings, records: Records) -> Numbers:
    """The numbers of all finished trainings, and which are missing."""
    finished = records["training"]
    missing = missing_seeds(trials(settings.encoder), finished)
    title = corpus_title("SST-2", settings.data, "sst2")
    return summarise(list(finished.values())) | {"unfinished": missing, "title": title}
