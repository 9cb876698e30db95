"""The corpora: what their models learn from, how many seeds they have, and which texts are judged."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from pellucid.base.catalogue import Choice
from pellucid.base.kinds import reasons
from pellucid.data.load import load_examples
from pellucid.data.plant import CLASSES, carrier_parts, plant
from pellucid.data.shared.part_files import PARTS
from pellucid.text.example import Example
from studies.shared.data_folders import corpus_title, source_of
from studies.shared.text_choice import with_smallest_digests
from studies.which_explanation.methods import FEW_METHODS, METHODS

PLANTED = "planted"
DECOYED = 0.9  # the share of train texts whose decoy goes with the label


@dataclass(frozen=True)
class JudgedCorpus:
    """title: of the corpus. folder: of its texts; learnt: of those that models learn from, where it is another. seeds:
    trainings. epochs, rate: of a training.
    """

    title: str
    folder: str
    seeds: int = 2
    epochs: int = 2
    rate: float = 5e-5
    learnt: str = ""


CORPORA = {
    "pocket": JudgedCorpus("pocket", "pocket", 3, 4, 2e-4),
    "sst2": JudgedCorpus("SST-2", "sst2", 3),
    PLANTED: JudgedCorpus("planted reasons", "pocket", 2, 4, 1e-4),
    "ag_news": JudgedCorpus("AG News", "ag_news"),
    "esnli": JudgedCorpus("e-SNLI", "esnli", learnt="snli"),
    "hatexplain": JudgedCorpus("HateXplain", "hatexplain"),
}


@dataclass(frozen=True)
class JudgingSize:
    """texts: that are judged, with at most `longest` words. train, dev: texts of a training, at most; planted: of one
    with a planted reason. metrics, checks: names, None for all that there are. resamples: bootstrap draws. batch_size:
    texts a step.
    """

    texts: int
    longest: int
    train: Mapping[str, int]
    dev: int
    planted: int
    reasons: tuple[str, ...]
    resamples: int
    methods: tuple[Choice, ...] = METHODS
    metrics: tuple[str, ...] | None = None
    checks: tuple[str, ...] | None = None


SIZES = {
    "tiny": JudgingSize(
        4,
        30,
        dict.fromkeys(CORPORA, 24),
        9,
        20,
        ("token",),
        20,
        FEW_METHODS,
        ("comprehensiveness", "sufficiency", "reason_found"),
        ("seed_agreement", "dead_token"),
    ),
    "small": JudgingSize(
        100,
        24,
        {"pocket": 10_000, "sst2": 4_000, "ag_news": 4_000, "esnli": 8_000, "hatexplain": 5_000},
        400,
        1_000,
        ("token", "order", "token_pair"),
        1_000,
    ),
}


def settings_of(on: str, size: JudgingSize) -> tuple[str, ...]:
    """What is trained and judged by itself: the corpus, or each planted reason."""
    return tuple(f"{PLANTED}-{reason}" for reason in size.reasons) if on == PLANTED else (on,)


def reason_of(setting: str) -> str | None:
    """The planted reason of a setting; None of another."""
    name, _, reason = setting.partition("-")
    return reason if name == PLANTED else None


@cache
def parts_of(setting: str, data: str, size_name: str) -> dict[str, list[Example]]:
    """The texts that models learn from, that choose the epoch, and that are judged."""
    size, reason = SIZES[size_name], reason_of(setting)
    if reason is not None:
        parts = plant(
            carrier_parts("pocket"),
            reasons.calls([reason])[0],
            n=size.planted,
            distractor=DECOYED,
            seed=0,
        )
        return {**parts, "test": _judged(parts["test"], size)}
    corpus = CORPORA[setting]
    sources = dict.fromkeys(PARTS, source_of(corpus.learnt or corpus.folder, data))
    sources["test"] = source_of(corpus.folder, data)
    parts = {split: load_examples(source, split) for split, source in sources.items()}
    most = {"train": size.train[setting], "dev": size.dev}
    selection = {split: with_smallest_digests(parts[split], most[split]) for split in most}
    return {**selection, "test": _judged(parts["test"], size)}


def labels_of(setting: str, data: str, size_name: str) -> tuple[str, ...]:
    """The classes."""
    if reason_of(setting) is not None:
        return CLASSES
    train = parts_of(setting, data, size_name)["train"]
    return tuple(sorted({one.label for one in train if one.label is not None}))


def _judged(texts: list[Example], size: JudgingSize) -> list[Example]:
    """The judged texts: those that are not too long, with the smallest digests."""
    short = [one for one in texts if len(one.text.split()) <= size.longest]
    return with_smallest_digests(short, size.texts)


def title_of(on: str, data: str) -> str:
    """What a page calls the texts."""
    return corpus_title(CORPORA[on].title, source_of(CORPORA[on].folder, data), CORPORA[on].folder)
