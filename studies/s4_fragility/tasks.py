"""The corpora: their classes, the paper's numbers, how much of them is used, and which texts those are."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from pellucid.base.errors import BadInput, UnknownName
from pellucid.data.load import load_examples
from pellucid.text.example import Example
from studies.shared.attention_models import VARIANTS
from studies.shared.data_folders import corpus_title
from studies.shared.text_choice import with_smallest_digests

SHORT, LONG = "sst2", "newsgroups"  # where weights are chosen: for short texts, and for long ones


@dataclass(frozen=True)
class AttentionTask:
    """title: of the corpus. labels: the second is the paper's class 1. paper: the row of its tables, "" for none.
    weights_of: the task whose chosen weights are used; "" where it chooses its own. reader: settings of
    `load_examples`.
    """

    title: str
    labels: tuple[str, str]
    paper: str
    weights_of: str = ""
    reader: Mapping[str, Any] = field(default_factory=dict)


_MIMIC = {"format": "mimic_discharge"}
TASKS = {
    "sst2": AttentionTask("SST", ("negative", "positive"), "SST"),
    "ag_news": AttentionTask("AG News, World or Business", ("World", "Business"), "AG", SHORT),
    "newsgroups": AttentionTask("20 Newsgroups, baseball or hockey", ("baseball", "hockey"), "NG"),
    "imdb": AttentionTask("IMDB", ("negative", "positive"), "IM", LONG),
    "anemia": AttentionTask("MIMIC, anemia", ("acute", "chronic"), "ANM", LONG, {**_MIMIC, "task": "anemia"}),
    "diabetes": AttentionTask("MIMIC, diabetes", ("no diabetes", "diabetes"), "", LONG, {**_MIMIC, "task": "diabetes"}),
    "pocket": AttentionTask("pocket", ("negative", "positive"), ""),
}


@dataclass(frozen=True)
class CorpusSize:
    """How much of a corpus is used. train, dev, test: texts at most, those with the smallest digests. words: the first
    ones of a text that are read, None for all. batch_size: texts a step. variants: pooler -> its variants.
    """

    train: int
    dev: int
    test: int
    epochs: int
    seeds: int
    words: int | None = None
    batch_size: int = 32
    variants: Mapping[str, tuple[str, ...]] = field(
        default_factory=lambda: {"additive": VARIANTS, "dot": ("base", "tying")}
    )


@dataclass(frozen=True)
class InformationSize:
    """Of table 2: how many words, groups and states there are at most."""

    n_words: int = 1_000
    n_groups: int = 1_000
    n_states: int = 30_000


@dataclass(frozen=True)
class FragilitySize:
    """corpora: how much of each. weights: variant -> weights that dev chooses from. width: of random word vectors;
    None: MiniLM's.
    """

    corpora: Mapping[str, CorpusSize]
    weights: Mapping[str, tuple[float, ...]]
    width: int | None = None
    information: InformationSize = InformationSize()


PAPER_WEIGHTS = {"tying": (1.0, 10.0, 20.0, 30.0), "masked_words": (0.1, 0.3, 1.0, 3.0, 5.0)}
SIZES = {
    "tiny": FragilitySize(
        {"pocket": CorpusSize(32, 12, 16, 1, 2, 12, 32, {"additive": VARIANTS, "dot": ("base",)})},
        {"tying": (1.0, 10.0), "masked_words": (1.0,)},
        width=8,
        information=InformationSize(20, 20, 200),
    ),
    "small": FragilitySize(
        {
            "sst2": CorpusSize(4_000, 872, 1_821, 4, 5, None, 32, {"additive": VARIANTS, "dot": VARIANTS}),
            "ag_news": CorpusSize(2_500, 400, 1_500, 4, 3),
            "newsgroups": CorpusSize(1_027, 150, 788, 3, 3, 100, 8),
            "imdb": CorpusSize(1_000, 200, 1_000, 3, 3, 100, 8),
            "anemia": CorpusSize(1_000, 200, 500, 4, 3, 1_000, 8),
            "diabetes": CorpusSize(1_000, 200, 500, 4, 3, 1_000, 8),
        },
        PAPER_WEIGHTS,
    ),
}


class WithCorpora(Protocol):
    """A size of a study that says how much of each corpus is used."""

    @property
    def corpora(self) -> Mapping[str, CorpusSize]: ...


def corpus_size(task: str, sizes: Mapping[str, WithCorpora], size_name: str) -> CorpusSize:
    """How much of a corpus is used. Raises `UnknownName` where the task does not have this size."""
    corpora = sizes[size_name].corpora
    if task not in corpora:
        names = [name for name, size in sizes.items() if task in size.corpora]
        raise UnknownName(f"{task} has the sizes {', '.join(names)}.")
    return corpora[task]


def title_of(task: str, data: str) -> str:
    """What a page calls the texts; those of MIMIC are told by their format, whatever their folder is called."""
    one = TASKS[task]
    folders = (Path(data).name,) if one.reader else (task, f"{task}_sports")
    return corpus_title(one.title, data, *folders)


def labelled_parts(task: str, data: str, size: CorpusSize) -> dict[str, list[Example]]:
    """The texts that are learnt from, that choose weight and epoch, and that are judged. Raises `BadInput` for a
    missing class.
    """
    return _parts(task, data, (("train", size.train), ("dev", size.dev), ("test", size.test)), size.words)


def corpus_numbers(task: str, data: str, size: CorpusSize) -> dict[str, Any]:
    """How much of a corpus is used, and how many texts each part has, as result.json has it."""
    counts = {f"n_{split}": len(texts) for split, texts in labelled_parts(task, data, size).items()}
    return {**{name: value for name, value in asdict(size).items() if name != "variants"}, **counts}


@cache
def _parts(task: str, data: str, most: tuple[tuple[str, int], ...], words: int | None) -> dict[str, list[Example]]:
    return {split: with_smallest_digests(two_classes(task, data, split, words), count) for split, count in most}


def two_classes(task: str, data: str, split: str, words: int | None) -> list[Example]:
    """The texts of the task's two classes, cut after so many words."""
    labels = TASKS[task].labels
    texts = [_cut(one, words) for one in load_examples(data, split, **TASKS[task].reader) if one.label in labels]
    missing = sorted(set(labels) - {one.label for one in texts})
    if missing:
        raise BadInput(
            f"The task {task} needs texts of the classes {' and '.join(labels)}; the {split} part of {data} has no "
            f"{' and no '.join(missing)}. Give the corpus that the task names."
        )
    return texts


def _cut(example: Example, words: int | None) -> Example:
    if words is None:
        return example
    return replace(example, segments=tuple(" ".join(one.split()[:words]) for one in example.segments), rationales=())
