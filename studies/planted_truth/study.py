"""Planted truth: which methods find a reason that is known by construction, of six kinds, beside a decoy?

After Bastings et al. (2022), "Will You Find These Shortcuts?". Classifiers learn pocket's sentences with a planted
reason each, and a decoy word that goes with the label in nine of ten train texts. Explanations are scored only where
edited texts show that the model has learnt the reason.

    python -m studies planted_truth --out studies/planted_truth

Finished models and results are kept and not repeated. `--size tiny` takes seconds.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

from pellucid.base.kinds import reasons
from pellucid.base.processes import Share
from pellucid.data.built_in import first_edition
from pellucid.data.plant import CLASSES, PARTS, plant
from pellucid.explaining.answers import follows_planted_reason
from pellucid.explaining.explain import explain_all
from pellucid.explaining.inputs.readings import usual_methods
from pellucid.explaining.planting import ENOUGH
from pellucid.models.composed.networks import Plan
from pellucid.results.bootstrap import bootstrap_interval, paired_difference
from pellucid.results.table import CHANCE
from pellucid.run.model import Model
from pellucid.text.example import Example
from pellucid.training.recipe import Recipe, RecipeChanges
from pellucid.training.train import train_model
from studies.planted_truth.page import MEASURES, as_page
from studies.shared.equal_scores import EqualScores
from studies.shared.method_settings import with_study_settings
from studies.shared.options import ENCODER, FINISHED, Option
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.unit_files import has_unit
from studies.shared.units import Numbers, Unit

DECOYED = 0.9  # the share of train texts whose decoy goes with the label


@dataclass(frozen=True)
class PlantedSize:
    """How much is run. reasons: names. n, epochs: train texts and epochs of each. texts: test texts that are explained.

    more: reasons that are tried again with more train texts, and how many.
    """

    reasons: tuple[str, ...]
    n: int
    epochs: int
    texts: int
    more: Mapping[str, int] = field(default_factory=dict)

    def planned(self) -> list[tuple[str, int]]:
        """Every reason with its number of train texts."""
        return [*((reason, self.n) for reason in self.reasons), *self.more.items()]


SIZES = {
    "tiny": PlantedSize(("token", "order"), 20, 1, 2),
    "small": PlantedSize(
        ("token", "lexicon", "span", "order", "position", "token_pair"), 1000, 4, 100, {"lexicon": 4000}
    ),
}
# pooler -> its settings, and what differs in the recipe. Written out, so finished runs stay valid when defaults change.
POOLERS: dict[str, tuple[dict[str, object], RecipeChanges]] = {
    "first_token": ({}, {}),
    "span": ({"score_start": 0.15}, {"new_parts_factor": 2.0, "penalties": {"concentration": 1.0}}),
}


ENOUGH_RIGHT = Option(
    "--enough", {"type": float, "default": ENOUGH, "help": "share of right answers that counts as learnt"}
)
SEED = Option("--seed", {"type": int, "default": 0})


@studies.add()
def planted_truth() -> Study:
    """Which methods find a reason that is known by construction? Six kinds of reasons, each beside a decoy."""
    return Study(
        sizes=SIZES,
        options=(ENCODER, ENOUGH_RIGHT, SEED, FINISHED),
        work=UnitStages({"planted reasons": planted_units}),
        summary=lambda settings, records: list(records["planted reasons"].values()),
        page=page,
        equal_scores=EqualScores(
            "average precision took equal scores as one threshold",
            "Its methods seldom give two words the same score, so little should change.",
            stage="planted reasons",
        ),
    )


def page(settings: Settings, numbers: Sequence[Numbers]) -> str:
    """The page, with the units that are missing."""
    names = (unit.name for unit in planted_units(settings))
    missing = [name for name in names if not has_unit(settings.runs, name)]
    return as_page(numbers, missing)


def planted_units(settings: Settings, records: Records | None = None) -> list[Unit]:
    """All the work of the study: every reason with every pooler."""
    planned = settings.size.planned()
    trainings = [_Training(reason, pooler, n) for reason, n in planned for pooler in POOLERS]
    return [
        Unit(one.name(settings), one.about(settings), partial(work, one, settings), settings.encoder)
        for one in trainings
    ]


@dataclass(frozen=True)
class _Training:
    """One reason, with so many train texts, for a model with one pooler."""

    reason: str
    pooler: str
    n: int

    def name(self, settings: Settings) -> str:
        """The name of its unit."""
        words = (self.reason, *([] if self.n == settings.size.n else [str(self.n)]), self.pooler)
        return "-".join(words)

    def about(self, settings: Settings) -> Numbers:
        """What its numbers depend on."""
        return {
            "epochs": settings.size.epochs,
            "texts": settings.size.texts,
            "reason": self.reason,
            "pooler": self.pooler,
            "encoder": Path(settings.encoder).name,
            "enough": settings.own["enough"],
            "seed": settings.own["seed"],
            "n": self.n,
        }


def work(training: _Training, settings: Settings, share: Share) -> Numbers:
    """One unit: train a model on one reason and ask whether it learnt it. Only then the methods are scored."""
    parts = _planted(training, settings.own["seed"])
    began = time.monotonic()
    model = _trained(training, parts, settings, share)
    trained = time.monotonic() - began
    follows = follows_planted_reason(model, parts["test"])
    holds = follows.holds(settings.own["enough"])
    methods = scored(model, parts["test"][: settings.size.texts], settings.own["seed"]) if holds else {}
    seconds = {"training": round(trained), "scoring": round(time.monotonic() - began - trained)}
    return {"learnt": {**asdict(follows), "holds": holds}, "methods": methods, "seconds": seconds}


def _planted(training: _Training, seed: int) -> dict[str, list[Example]]:
    """Texts with the reason in sentences of pocket's first edition, which the finished runs were computed with."""
    carriers = {part: first_edition(part) for part in PARTS}
    reason = reasons.calls([training.reason])[0]
    return plant(carriers, reason, n=training.n, distractor=DECOYED, seed=seed)


def _trained(training: _Training, parts: Mapping[str, Sequence[Example]], settings: Settings, share: Share) -> Model:
    pooler_settings, changes = POOLERS[training.pooler]
    recipe = Recipe(seed=settings.own["seed"], epochs=settings.size.epochs, batch_size=16, learning_rate=1e-4)
    plan = Plan(settings.encoder, training.pooler, pooler_settings, CLASSES)
    return train_model(
        parts,
        plan,
        replace(recipe, **changes),
        settings.out / "models" / training.name(settings),
        "cpu",
        progress=lambda _, done, total: share(0.5 * done / total),  # the other half is for scoring
    )


def scored(model: Model, examples: Sequence[Example], seed: int) -> Numbers:
    """Method -> measure -> its mean over texts and its difference from chance, text by text, with intervals."""
    methods = with_study_settings([*usual_methods(model), "gradient_x_input"])
    by_method = explain_all(model, examples, methods, seed=seed, progress=False)
    by_measure = {
        measure: {title: values(explanations) for title, explanations in by_method.items()}
        for measure, (values, _, _) in MEASURES.items()
    }
    return {
        title: {measure: _numbers(values[title], values[CHANCE]) for measure, values in by_measure.items()}
        for title in by_method
    }


def _numbers(values: np.ndarray, chance: np.ndarray) -> Numbers:
    return {
        "value": asdict(bootstrap_interval(values)),
        "over_chance": asdict(paired_difference(values, chance)),
    }
