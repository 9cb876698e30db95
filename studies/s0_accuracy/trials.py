"""The trainings of table 1 and figure 2: models, penalties and sizes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pellucid.models.composed.networks import Plan
from pellucid.training.recipe import Recipe, RecipeChanges
from studies.s0_accuracy.page import STRIPPED
from studies.shared.self_explaining_models import PAPER_RECIPE, SCORE_START
from studies.shared.trainings import Trial, seeded

LABELS = {
    "sst5": ("very negative", "negative", "neutral", "positive", "very positive"),
    "snli": ("entailment", "neutral", "contradiction"),
    "pocket": ("negative", "neutral", "positive"),
}


@dataclass(frozen=True)
class AccuracySize:
    """How much is run of a task.

    lambdas: weights of the concentration penalty. seeds: trainings of each model. encoder, recipe: of all models. most:
    examples by split (no entry: all). narrow: also try spans of this width, with lambda 1. entropy: also try the
    paper's other penalty (footnote 2) with this weight, from the start that `pellucid train` has. stripped: also try
    plain, lambdas and the other penalty where a final full stop is not read (A0.7).
    """

    lambdas: tuple[float, ...]
    seeds: int
    encoder: str
    recipe: RecipeChanges
    most: Mapping[str, int] = field(default_factory=dict)
    narrow: int | None = None
    entropy: float | None = None
    stripped: bool = False


ROBERTA: RecipeChanges = {"epochs": 20, "batch_size": 40, "learning_rate": 2e-5, **PAPER_RECIPE}
MINILM: RecipeChanges = {"batch_size": 32, "learning_rate": 5e-5}
SIZES = {
    "tiny": {
        "pocket": AccuracySize(
            (0, 1), 1, "minilm", {"epochs": 1, **MINILM}, {"train": 32, "dev": 16, "test": 16}
        )
    },
    "small": {
        "sst5": AccuracySize(
            (0, 0.5, 1, 1.5, 2, 5), 3, "minilm", {"epochs": 2, **MINILM}, narrow=128, entropy=0.1, stripped=True
        ),
        "snli": AccuracySize(
            (0, 0.5, 1, 1.5, 2), 3, "minilm", {"epochs": 1, **MINILM}, {"train": 10_000}, entropy=0.1, stripped=True
        ),
    },
    "paper": {
        "sst5": AccuracySize((0, 0.5, 1, 1.5, 2, 5), 5, "roberta-base", ROBERTA),
        "snli": AccuracySize((0, 0.5, 1, 1.5, 2), 5, "roberta-base", ROBERTA),
    },
}  # fmt: skip
STRIPPED_LAMBDAS = (0, 1, 2)


def trials(task: str, size: AccuracySize) -> list[Trial]:
    """All trainings, seed by seed, so that a study that is stopped early has whole rows. Stripped ones come last."""
    every = sorted(_models(task, size), key=lambda trial: trial.recipe.seed)
    if size.stripped:
        fewer = replace(size, lambdas=STRIPPED_LAMBDAS, narrow=None)
        again = [one for one in _models(task, fewer, True) if one.model not in ("mean", "average")]
        every += [replace(one, model=STRIPPED + one.model) for one in sorted(again, key=_seed)]
    return every


def _seed(trial: Trial) -> int:
    return trial.recipe.seed


def _models(task: str, size: AccuracySize, stripped: bool = False) -> list[Trial]:
    """The trainings of table 1 and figure 2, on texts as they are or without their final full stop."""

    def models(name: str, pooler: str, penalties: Mapping[str, float], **settings: object) -> list[Trial]:
        recipe = replace(Recipe(**size.recipe), penalties=penalties)
        plan = Plan(size.encoder, pooler, settings, LABELS[task], strip_final_full_stop=stripped)
        return seeded(name, plan, recipe, size.seeds)

    def weighted(weight: float) -> dict[str, float]:
        return {"concentration": float(weight)} if weight else {}

    every = [
        *models("plain", "first_token", {}),
        *models("mean", "mean", {}),
        *models("average", "span", {}, weights="uniform"),
    ]
    for weight in size.lambdas:
        every += models(f"lambda-{weight:g}", "span", weighted(weight), score_start=SCORE_START)
    if size.narrow is not None:
        narrow = {"score_start": SCORE_START, "span_width": size.narrow}
        every += models(f"narrow-{size.narrow}", "span", weighted(1), **narrow)
    if size.entropy is not None:
        every += models(f"entropy-{size.entropy:g}", "span", {"entropy": size.entropy}, score_start=0.05)
    return every
