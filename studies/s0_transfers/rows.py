"""What T4 runs: its rows, its sizes, its texts, and what each number depends on."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path

from pellucid.data.load import load_examples
from pellucid.data.shared.part_files import PARTS
from pellucid.text.example import Example
from pellucid.training.recipe import RecipeChanges
from studies.s0_transfers.numbers import BLIND
from studies.shared.self_explaining_models import PAPER_RECIPE
from studies.shared.study import Settings
from studies.shared.units import Numbers, text_digest


@dataclass(frozen=True)
class ExtractorRow:
    """An extractor as it is judged. model: the kind that it reads. selection, budget, settings: see `extract`.

    like: whether its spans are as long as those of span_attention with the same seed.
    """

    extractor: str
    model: str
    like: bool = False
    selection: str | None = None
    budget: float | None = None
    settings: Mapping[str, object] = field(default_factory=dict)


ROWS = {
    "span_attention": ExtractorRow("span_attention", "span"),
    "average_gradient": ExtractorRow("average_gradient", "plain", like=True),
    BLIND: ExtractorRow("average_gradient", "plain", like=True, settings={"target": "predicted"}),
    "average_attention": ExtractorRow("average_attention", "plain", like=True),
    "rationale": ExtractorRow("rationale", "rationale"),
    "random_span": ExtractorRow("random_span", "plain"),
    "random_span_of_length": ExtractorRow("random_span_of_length", "plain", like=True),
}
MODES = {  # one seed: other ways to cut by the same scores, such as the paper's literal rule
    f"{name}-{mode}": ExtractorRow(name, "plain", selection=mode, budget=0.2 if mode == "budget" else None)
    for name in ("average_gradient", "average_attention")
    for mode in ("literal", "budget", "max_sum_centred")
}


@dataclass(frozen=True)
class TransfersSize:
    """How much is run. seeds: trainings of each model. train, test: texts, None for all; test counts dev texts too."""

    seeds: int
    epochs: int
    train: int | None
    test: int | None
    batch_size: int
    learning_rate: float


SIZES = {
    "tiny": TransfersSize(1, 1, 24, 8, 8, 1e-3),
    "small": TransfersSize(3, 2, None, None, 32, 5e-5),
    "pairs": TransfersSize(3, 1, 10_000, 3_000, 32, 5e-5),  # small, for SNLI's half a million pairs
    "paper": TransfersSize(3, 20, None, None, 40, 2e-5),
}


def about(settings: Settings) -> Numbers:
    """What all numbers depend on."""
    return {
        **asdict(settings.size),
        "data": Path(settings.data).name,
        "texts": _digest(settings.data, settings.size.train, settings.size.test),
        "encoder": Path(settings.encoder).name,
        "concentration": settings.own["concentration"],
        **({"recipe": own_recipe(settings)} if own_recipe(settings) else {}),
    }


def own_recipe(settings: Settings) -> RecipeChanges:
    """What the size changes in the recipe of all models."""
    return PAPER_RECIPE if settings.size == SIZES["paper"] else {}


def full_texts(settings: Settings) -> Mapping[str, list[Example]]:
    """Part -> the full texts, without their meta data."""
    return _texts(settings.data, settings.size.train, settings.size.test)


@cache
def _texts(data: str, train: int | None, test: int | None) -> Mapping[str, list[Example]]:
    most = {"train": train, "dev": test, "test": test}
    return {part: [replace(one, meta={}) for one in load_examples(data, part)[: most[part]]] for part in PARTS}


@cache
def _digest(data: str, train: int | None, test: int | None) -> str:
    return text_digest(_texts(data, train, test))
