"""What T3 runs: sizes, kinds of models, penalties to choose from, and what each number depends on."""

from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from pellucid.text.example import Example
from pellucid.training.recipe import RecipeChanges
from studies.s0_eraser.texts import TASKS, part_of
from studies.shared.self_explaining_models import (
    CONCENTRATION,
    PAPER_RECIPE,
    SCORE_START,
    SpanChanges,
)
from studies.shared.study import Settings
from studies.shared.units import Numbers, text_digest

# kind of self-explaining model -> its settings. The first is the paper's; the second does not read the final full stop;
# the third weighs only spans with a content word.
SPANS: dict[str, SpanChanges] = {
    "span": {},
    "span_stripped": {"strip_final_full_stop": True},
    "span_with_content": {"pooler_settings": {"spans": "with_content"}},
}
# extractor -> the kind of model that it reads
RIVALS = {
    "average_gradient": "plain",
    "average_attention": "plain",
    "rationale": "rationale",
    "random_span": "plain",
}
# Penalties to choose from on dev: the paper's with its lambda and smaller ones, and the default of `pellucid train`
# with its start.
PENALTIES: dict[str, tuple[dict[str, float], float]] = {
    "lambda_0.5": ({"concentration": 0.5}, SCORE_START),
    "lambda_1": ({"concentration": 1.0}, SCORE_START),
    "lambda_1.5": ({"concentration": CONCENTRATION}, SCORE_START),
    "entropy_0.1": ({"entropy": 0.1}, 0.05),
}


@dataclass(frozen=True)
class TaskSize:
    """How much is run of a task.

    train, dev, judged: texts to train on, to choose the epoch by, and to judge; None: all. epochs, batch_size,
    learning_rate: of every training. kinds: of models. penalties: names to choose from. choosing: texts to train on for
        that
    choice, None: as many as train. words: how many words of a document are read, from its last sentences; None: all, in
    windows that are joined.
    """

    train: int | None
    dev: int | None
    judged: int | None
    epochs: int
    batch_size: int
    learning_rate: float
    kinds: tuple[str, ...]
    penalties: tuple[str, ...]
    choosing: int | None = None
    words: int | None = None


ON_MOVIES = ("plain", "span")
ON_PAIRS = ("plain", "rationale", "span_stripped", "span_with_content")
TWO, FOUR = ("lambda_1.5", "entropy_0.1"), tuple(PENALTIES)
SIZES = {
    "tiny": {
        "movies": TaskSize(24, 8, 6, 1, 8, 1e-3, ON_MOVIES, TWO, words=20),
        "snli": TaskSize(24, 8, 6, 1, 8, 1e-3, ON_PAIRS, TWO, choosing=16),
    },
    "small": {
        "movies": TaskSize(400, 100, None, 2, 8, 5e-5, ON_MOVIES, TWO, words=200),
        "snli": TaskSize(10_000, 1000, 2000, 1, 32, 5e-5, ON_PAIRS, FOUR, choosing=5000),
    },
    "paper": {
        "movies": TaskSize(None, None, None, 20, 40, 2e-5, (*ON_MOVIES, "rationale"), FOUR),
        "snli": TaskSize(None, None, None, 20, 40, 2e-5, ON_PAIRS, FOUR),
    },
}
SEEDS = {"tiny": 2, "small": 3, "paper": 3}


def own_recipe(settings: Settings) -> RecipeChanges:
    """What the size changes in the recipe of all models."""
    return PAPER_RECIPE if settings.size_name == "paper" else {}


def seeds_of(settings: Settings) -> range:
    """The training seeds."""
    return range(SEEDS[settings.size_name])


def examples(settings: Settings, task: str, part: str) -> list[Example]:
    """The texts of a part: "train" and "dev" to train with, "judged" with what people marked."""
    size = settings.size[task]
    most = {"train": size.train, "dev": size.dev, "judged": size.judged}[part]
    return list(part_of(settings.data, task, part, most, size.words))


def text_digests(settings: Settings) -> dict[str, str]:
    """Task -> a digest of its texts."""
    return {task: _digest(settings.data, settings.size_name, task) for task in TASKS}


@cache
def _digest(data: str, size_name: str, task: str) -> str:
    settings = Settings(size_name, SIZES[size_name], Path(), data)
    return text_digest({part: examples(settings, task, part) for part in ("train", "dev", "judged")})


@dataclass(frozen=True)
class StudyModel:
    """One model of the study. penalty: of a self-explaining one. few: trained on fewer texts, to choose the penalty."""

    task: str
    kind: str
    seed: int
    penalty: str | None = None
    few: bool = False

    @property
    def name(self) -> str:
        """What its files are called."""
        words = (self.task, self.kind, *([self.penalty] if self.penalty else []), str(self.seed))
        return "-".join((*words, "few") if self.few else words)

    def about(self, settings: Settings, **more: object) -> Numbers:
        """What its numbers depend on."""
        size = {name: one for name, one in asdict(settings.size[self.task]).items() if name not in LISTS}
        return {
            **asdict(self),
            **size,
            "data": Path(settings.data).name,
            "texts": text_digests(settings)[self.task],
            "encoder": Path(settings.encoder).name,
            "settings": SPANS.get(self.kind, {}),
            "weights": PENALTIES[self.penalty] if self.penalty else None,
            **({"recipe": own_recipe(settings)} if own_recipe(settings) else {}),
            **more,
        }


LISTS = ("kinds", "penalties")  # fields of a size that say what is run, not how
