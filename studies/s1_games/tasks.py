"""Both tasks: their classes, what is learnt from, the methods that are judged, and the paper's numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from pellucid.base.catalogue import Choice
from pellucid.data.load import load_examples
from pellucid.text.example import Example
from studies.shared.data_folders import corpus_title
from studies.shared.study import Settings

DECODED, UNDECODED, LENS = "decoded_saliency", "grad_cam", "lens"
NAMES = {"sst2": "SST-2", "ag_news": "AG News"}
LAYERS = 6  # of MiniLM; l = 0 is the embeddings' output
ALLENNLP: tuple[Choice, ...] = ("allennlp_simple", "allennlp_smooth", "allennlp_integrated")


@dataclass(frozen=True)
class GamesSize:
    """How much is run. texts, dev: texts that are judged, of test and dev. train: texts to learn from, None for all.
    words: test texts whose words `s1_words` counts. idf: texts that say how rare words are, None for all. lens:
    settings of a lens that is trained where none is named.
    """

    texts: int
    dev: int
    seeds: dict[str, int]
    epochs: int
    train: int | None
    layers: int
    draws: int
    orders: int
    words: int
    idf: int | None
    lens: Mapping[str, int] = field(default_factory=dict)


SIZES = {
    "tiny": GamesSize(
        3, 2, {"sst2": 1, "ag_news": 1}, 1, 32, 2, 2, 8, 12, 100, {"head_steps": 20, "translator_steps": 10}
    ),
    "small": GamesSize(100, 60, {"sst2": 3, "ag_news": 3}, 1, 20_000, LAYERS, 5, 10, 1_000, None),
}
TEXTS = {"sst2": 100, "ag_news": 60}  # judged, at most; texts are cut before seeds
TRAIN = {
    "sst2": 20_000,
    "ag_news": 8_000,
}  # learnt from, at most: a text of AG News takes five times as long as a phrase

# Area under the curve, (revealing, hiding): tables 1 and 2. The layer is the best of each table.
PAPER: dict[str, dict[str, tuple[float, float]]] = {
    "sst2": {
        "undecoded l0": (0.797, 0.713),
        "decoded": (0.867, 0.609),
        "allennlp_simple": (0.799, 0.756),
        "allennlp_smooth": (0.795, 0.750),
        "allennlp_integrated": (0.804, 0.762),
        "chance": (0.748, 0.756),
    },
    "ag_news": {
        "undecoded l0": (0.853, 0.804),
        "decoded": (0.895, 0.739),
        "thermostat_shapley_sampling": (0.905, 0.567),
        "thermostat_occlusion": (0.894, 0.731),
        "thermostat_integrated_gradients": (0.897, 0.661),
        "thermostat_gradient_shap": (0.860, 0.784),
        "thermostat_lime": (0.851, 0.792),
        "thermostat_gradient_x_activation": (0.851, 0.794),
        "deep_lift_shap": (0.823, 0.842),
        "chance": (0.829, 0.841),
    },
}


def layered(method: str, size: GamesSize) -> list[tuple[str, dict[str, object]]]:
    """A method at every layer, from the embeddings' output to the last block's."""
    return [(method, {"layer": layer}) for layer in range(size.layers + 1)]


def methods(size: GamesSize) -> list[Choice]:
    """All methods of the study, whether this version has them or not; chance first."""
    return [
        ("chance", {"n_draws": size.draws, "unit": "piece"}),
        *layered(UNDECODED, size),
        *layered(DECODED, size),
        *ALLENNLP,
        "thermostat_gradient_x_activation",
        "thermostat_integrated_gradients",
        "thermostat_gradient_shap",
        "deep_lift_shap",
        "thermostat_lime",
        "thermostat_occlusion",
        ("thermostat_shapley_sampling", {"n_permutations": size.orders}),
    ]


def title_of(choice: Choice) -> str:
    """A method's name in tables and files: "grad_cam l3"; without other settings."""
    name, settings = (choice, {}) if isinstance(choice, str) else choice
    layer = settings.get("layer")
    return name if layer is None else f"{name} l{layer}"


def training_parts(settings: Settings) -> dict[str, list[Example]]:
    """What a classifier learns: the phrases of GLUE where the folder has them, else the train part; and dev."""
    phrases = Path(settings.data) / "train_phrases.jsonl.gz"
    train = _file(phrases) if phrases.is_file() else part(settings.data, "train")
    most = min(settings.size.train or len(train), TRAIN.get(settings.own["task"], len(train)))
    return {"train": train[:most], "dev": part(settings.data, "dev")}


@cache
def part(data: str, split: str) -> list[Example]:
    """A part of the data."""
    return load_examples(data, split)


@cache
def _file(path: Path) -> list[Example]:
    return load_examples(path)


def title_of_texts(settings: Settings) -> str:
    """What a page calls the texts."""
    task = settings.own["task"]
    return corpus_title(NAMES.get(task, task), settings.data, task)
