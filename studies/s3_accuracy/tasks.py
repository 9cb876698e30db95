"""The three data sets of the table: their classes, how answers are scored, the paper's numbers, and which texts are
used.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from pellucid.data.load import load_examples
from pellucid.text.example import Example
from studies.s3_accuracy.models import PRETRAINED, TITLES
from studies.shared.text_choice import with_smallest_digests


@dataclass(frozen=True)
class ScoredTask:
    """title: of the data set. measure: "accuracy" or "mcc". paper: model -> the paper's number in points. own_test:
    whether the data have a labelled test part; else dev is the test part, and texts out of train stand in for dev.
    """

    title: str
    labels: tuple[str, ...]
    measure: str = "accuracy"
    paper: Mapping[str, float] | None = None
    own_test: bool = True


TASKS = {
    "sst2": ScoredTask(
        "SST-2",
        ("negative", "positive"),
        paper={PRETRAINED: 93.23, "transformer": 82.45, "bilstm": 84.86, "cnn": 82.00},
    ),
    "cola": ScoredTask(
        "CoLA",
        ("acceptable", "unacceptable"),
        "mcc",
        {PRETRAINED: 61.10, "transformer": 15.60, "bilstm": 12.96, "cnn": 9.85},
        own_test=False,
    ),
    "qqp": ScoredTask(
        "QQP",
        ("duplicate", "not_duplicate"),
        paper={PRETRAINED: 91.29, "transformer": 76.37, "bilstm": 86.58, "cnn": 80.99},
    ),
    "pocket": ScoredTask("pocket", ("negative", "neutral", "positive"), "mcc"),
}
MEASURES = {"accuracy": "accuracy", "mcc": "Matthews correlation × 100"}


@dataclass(frozen=True)
class ModelsSize:
    """How much is run. seeds: task -> trainings of each model. train: task -> texts to learn from. dev, test: texts at
    most, those with the smallest digests. epochs: task -> model -> epochs. width: numbers of a state of the models that
    begin with random vectors.
    """

    seeds: Mapping[str, int]
    train: Mapping[str, int]
    dev: int
    test: int
    epochs: Mapping[str, Mapping[str, int]]
    width: int


FEW = dict.fromkeys(TITLES, 3) | {PRETRAINED: 2}
MANY = dict.fromkeys(TITLES, 12) | {PRETRAINED: 8}  # of CoLA: after FEW, each model gives nearly all texts one class

SIZES = {
    "tiny": ModelsSize({"pocket": 2}, {"pocket": 32}, 12, 24, {"pocket": dict.fromkeys(TITLES, 1)}, 8),
    "small": ModelsSize(
        {"sst2": 3, "cola": 1, "qqp": 1},
        {"sst2": 3_000, "cola": 5_000, "qqp": 3_000},
        400,
        1_000,
        {"sst2": FEW, "cola": MANY, "qqp": FEW},
        256,
    ),
}


@cache
def task_parts(task: str, data: str, size_name: str) -> dict[str, list[Example]]:
    """The texts that are learnt from, that choose the epoch, and that are judged."""
    size, own = SIZES[size_name], {split: load_examples(data, split) for split in ("train", "dev")}
    if TASKS[task].own_test:
        own["test"] = load_examples(data, "test")
    else:
        selection = with_smallest_digests(own["train"], size.dev)
        left_out = {id(one) for one in selection}
        rest = [one for one in own["train"] if id(one) not in left_out]
        own = {"train": rest, "dev": selection, "test": own["dev"]}
    most = {"train": size.train[task], "dev": size.dev, "test": size.test}
    return {split: with_smallest_digests(texts, most[split]) for split, texts in own.items()}
