"""What T3's study runs: sizes, kinds of models and penalties to choose from, and what each number depends on."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pellucid.core.text.example import Example
from pellucid.studies.s0_accuracy.study import SCORE_START
from pellucid.studies.s0_eraser.texts import TASKS, part_of
from pellucid.studies.shared.self_explaining_models import CONCENTRATION
from pellucid.studies.shared.units import Numbers, digest

# kind of self-explaining model -> its settings: as the paper's; not reading the final full stop; weighing no span of
# punctuation and function words alone
SPANS: dict[str, dict[str, Any]] = {
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
# What to choose from on dev: the paper's penalty with its lambda and less, and what `pellucid train` takes, from its start.
PENALTIES: dict[str, tuple[dict[str, float], float]] = {
    "lambda_0.5": ({"concentration": 0.5}, SCORE_START),
    "lambda_1": ({"concentration": 1.0}, SCORE_START),
    "lambda_1.5": ({"concentration": CONCENTRATION}, SCORE_START),
    "entropy_0.1": ({"entropy": 0.1}, 0.05),
}


@dataclass(frozen=True)
class Size:
    """How much is run of a task: texts to train on, to choose the epoch by and to judge, and how it is trained.

    kinds: of models. penalties: names to choose from; choosing: texts to train on for that, where fewer. words: the
    most of a document that are read, in its last sentences; None: all, in windows that are joined.
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
        "movies": Size(24, 8, 6, 1, 8, 1e-3, ON_MOVIES, TWO, words=20),
        "snli": Size(24, 8, 6, 1, 8, 1e-3, ON_PAIRS, TWO, choosing=16),
    },
    "small": {
        "movies": Size(400, 100, None, 2, 8, 5e-5, ON_MOVIES, TWO, words=200),
        "snli": Size(10_000, 1000, 2000, 1, 32, 5e-5, ON_PAIRS, FOUR, choosing=5000),
    },
    "paper": {
        "movies": Size(None, None, None, 20, 40, 2e-5, (*ON_MOVIES, "rationale"), FOUR),
        "snli": Size(None, None, None, 20, 40, 2e-5, ON_PAIRS, FOUR),
    },
}
SEEDS = {"tiny": 2, "small": 3, "paper": 3}


@dataclass(frozen=True)
class Settings:
    """What a run depends on, and where models (work) and numbers (out) are kept.

    best: task and kind -> the penalty chosen on dev, once it is known.
    """

    size: str
    data: str
    work: Path
    out: Path
    encoder: str = "minilm"
    device: str = "cpu"
    best: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def seeds(self) -> range:
        """The training seeds."""
        return range(SEEDS[self.size])

    @cached_property
    def texts(self) -> dict[str, str]:
        """Task -> a digest of its texts."""
        parts = ("train", "dev", "judged")
        return {task: digest({part: self.examples(task, part) for part in parts}) for task in TASKS}

    def size_of(self, task: str) -> Size:
        """How much is run of a task."""
        return SIZES[self.size][task]

    def examples(self, task: str, part: str) -> list[Example]:
        """The texts of a part: "train" and "dev" to train with, "judged" with what people marked."""
        size = self.size_of(task)
        most = {"train": size.train, "dev": size.dev, "judged": size.judged}[part]
        return list(part_of(self.data, task, part, most, size.words))


@dataclass(frozen=True)
class Model:
    """One model of the study; penalty: of a self-explaining one. few: trained on fewer texts, to choose the penalty."""

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

    def about(self, settings: Settings, **more: Any) -> Numbers:
        """What its numbers depend on."""
        size = {name: held for name, held in asdict(settings.size_of(self.task)).items() if name not in LISTS}
        return {
            **asdict(self),
            **size,
            "data": Path(settings.data).name,
            "texts": settings.texts[self.task],
            "encoder": Path(settings.encoder).name,
            "settings": SPANS.get(self.kind, {}),
            "weights": PENALTIES[self.penalty] if self.penalty else None,
            **more,
        }


LISTS = ("kinds", "penalties")  # of a size: what is run, not how
