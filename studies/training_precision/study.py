"""Does training in bfloat16, or by the route onednn, cost accuracy? Three ways to compute the same training, on paired
seeds.

Each seed trains a span model on MiniLM three times: in float32 by PyTorch's own operators, in float32 by
`route="onednn"`, and in bfloat16, which `precision="auto"` takes where the processor has it. Nothing else differs, so
differences are paired by seed.

    python -m studies training_precision --data FOLDER --out studies/training_precision

FOLDER holds train, dev and test as JSON lines. Finished trainings are read and not repeated; `--finished` reports them
without more work.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pellucid.data.load import load_examples
from pellucid.models.composed.networks import Plan
from pellucid.training.recipe import Recipe, RecipeChanges
from studies.shared.options import DATA, ENCODER, FINISHED
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.trainings import Corpus, Trial, missing_seeds, seeded, trial_units
from studies.shared.units import Numbers, Unit
from studies.training_precision.page import FLOAT32, as_page, summarise

WAYS: Mapping[str, RecipeChanges] = {
    FLOAT32: {"precision": "float32"},
    "onednn": {"precision": "float32", "route": "onednn"},
    "bfloat16": {"precision": "bfloat16"},
}


@dataclass(frozen=True)
class PrecisionSize:
    """How much is run. seeds: trainings in each way. epochs: of each training. most: examples by split (no entry:
    all).
    """

    seeds: int
    epochs: int
    most: Mapping[str, int] = field(default_factory=dict)


SIZES = {
    "tiny": PrecisionSize(2, 1, {"train": 32, "dev": 16, "test": 16}),
    "small": PrecisionSize(5, 2),
}


@studies.add()
def training_precision() -> Study:
    """Does training in bfloat16, or by the route onednn, cost accuracy?"""
    return Study(
        sizes=SIZES,
        options=(DATA, ENCODER, FINISHED),
        work=UnitStages({"training": training_units}),
        summary=summary,
        page=lambda settings, numbers: as_page(settings.size_name, numbers),
    )


def trainings(settings: Settings) -> list[Trial]:
    """All trainings, seed by seed, so that a study that is stopped early has pairs."""
    size = settings.size
    labels = sorted({str(one.label) for one in load_examples(settings.data, "train")})
    plan = Plan(settings.encoder, "span", {}, tuple(labels))
    recipe = Recipe(epochs=size.epochs, penalties={"entropy": 0.1})
    every = [one for way, changes in WAYS.items() for one in seeded(way, plan, replace(recipe, **changes), size.seeds)]
    return sorted(every, key=lambda one: one.recipe.seed)


def training_units(settings: Settings, records: Records) -> list[Unit]:
    """The trainings as units of work."""
    return trial_units(trainings(settings), Corpus(settings.data, settings.size.most), settings.out, settings.device)


def summary(settings: Settings, records: Records) -> Numbers:
    """The numbers of all finished trainings, and which are missing."""
    finished = records["training"]
    return summarise(list(finished.values())) | {"unfinished": missing_seeds(trainings(settings), finished)}
