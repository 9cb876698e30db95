"""The corpora: what models learn from, how often, which models each has, and which texts are judged."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from pellucid.base.kinds import reasons
from pellucid.data.load import load_examples
from pellucid.data.plant import CLASSES, carrier_parts, plant
from pellucid.data.shared.part_files import PARTS
from pellucid.text.example import Example
from studies.believable_spans.models import DOSES, LEVERS
from studies.s0_eraser.texts import last_sentences
from studies.shared.data_folders import corpus_title, source_of
from studies.shared.text_choice import with_smallest_digests

DECOYED = 0.9  # the share of train texts whose decoy goes with the label
PLANTED = "planted_"
MAIN = ("plain", "entropy", "believable")


@dataclass(frozen=True)
class SpanCorpus:
    """title: of the corpus. models: that are trained on it; judged: those of them whose spans are judged on test, None:
    all. folder: of its texts; learnt: of those that models learn from, where it is another. train: texts to learn from,
    None: all. seeds, epochs, rate: of trainings. words: of a document, its last sentences; None: texts are short.
    marks: whether people marked evidence in the judged texts. compared: texts in which other methods explain the same
    model; 0: no method does.
    """

    title: str
    models: tuple[str, ...]
    folder: str = ""
    learnt: str = ""
    train: int | None = None
    seeds: int = 3
    epochs: int = 2
    rate: float = 5e-5
    words: int | None = None
    marks: bool = False
    compared: int = 100
    judged: tuple[str, ...] | None = None


CORPORA = {
    "sst2": SpanCorpus("SST-2, every lever", LEVERS, "sst2", train=3_000, compared=0, judged=MAIN),
    "pocket": SpanCorpus(
        "pocket",
        (*MAIN, "attributed_3", "marked", "rationale", "fresh", "b_cos"),
        "pocket",
        seeds=5,
        epochs=4,
        rate=2e-4,
        marks=True,
    ),
    "sst5": SpanCorpus("SST-5", (*MAIN, "attributed_3"), "sst5", seeds=5),
    "snli": SpanCorpus(
        "SNLI, judged on e-SNLI",
        (*MAIN, "rationale", "fresh", "b_cos"),
        "esnli",
        "snli",
        train=10_000,
        marks=True,
    ),
    "hatexplain": SpanCorpus(
        "HateXplain",
        (
            "plain",
            "believable",
            *(f"marked_{count}" for count in DOSES),
            "unirex_marked",
            "rationale",
            "fresh",
            "b_cos",
        ),
        "hatexplain",
        train=5_000,
        marks=True,
        compared=60,
    ),
    "movies": SpanCorpus(
        "movie reviews",
        ("plain", "believable", "rationale", "fresh", "b_cos"),
        "movies",
        words=120,
        marks=True,
        compared=40,
    ),
    "planted_token": SpanCorpus("a planted token", MAIN, epochs=4, rate=1e-4, compared=0),
    "planted_span": SpanCorpus("a planted span", MAIN, epochs=4, rate=1e-4, compared=0),
    "planted_order": SpanCorpus("a planted order", MAIN, epochs=4, rate=1e-4, compared=0),
}


@dataclass(frozen=True)
class SpanSize:
    """judged: texts whose spans are judged, with at most `longest` words each. compared: the most in which other
    methods explain. train, dev: the most texts of a training; unread: the most train texts that no model learns from,
    on which accuracies are compared beside dev; leaked: train and test texts of the label-leak probe. planted: of a
    training with a planted reason. seeds: the most of a corpus. epochs: None, the corpus's.
    """

    judged: int
    compared: int
    longest: int
    train: int
    dev: int
    unread: int
    leaked: int
    planted: int
    seeds: int
    epochs: int | None = None
    models: tuple[str, ...] | None = None


SIZES = {
    "tiny": SpanSize(6, 2, 30, 24, 9, 6, 12, 20, 2, 1, ("plain", "believable", "rationale", "fresh", "b_cos")),
    "small": SpanSize(200, 100, 40, 10**9, 400, 4_000, 1_000, 1_000, 5),
}


def is_planted(on: str) -> bool:
    """Whether a corpus has a planted reason."""
    return on.startswith(PLANTED)


def models_of(on: str, size: SpanSize) -> tuple[str, ...]:
    """The models that are trained on a corpus."""
    return size.models or CORPORA[on].models


def seeds_of(on: str, size: SpanSize) -> int:
    """How many trainings each model has."""
    return min(CORPORA[on].seeds, size.seeds)


@cache
def parts_of(on: str, data: str, size_name: str) -> Mapping[str, list[Example]]:
    """train, dev; unread: those of dev, and train texts that no model learns from; test: all labelled test texts;
    judged: those whose spans are judged.
    """
    size, corpus = SIZES[size_name], CORPORA[on]
    if is_planted(on):
        reason = reasons.calls([on.removeprefix(PLANTED)])[0]
        parts = plant(carrier_parts("pocket"), reason, n=size.planted, distractor=DECOYED, seed=0)
        return {**parts, "unread": parts["dev"], "judged": with_smallest_digests(parts["test"], size.judged)}
    sources = dict.fromkeys(PARTS, source_of(corpus.learnt or corpus.folder, data))
    parts = {split: [one for one in load_examples(sources[split], split) if one.label] for split in PARTS}
    judged = parts["test"] if not corpus.learnt else load_examples(source_of(corpus.folder, data), "test")
    if corpus.words is not None:
        parts = {split: [last_sentences(one, corpus.words) for one in of] for split, of in parts.items()}
        judged = [last_sentences(one, corpus.words) for one in judged]
    longest = max(size.longest, corpus.words or 0)
    short = [one for one in judged if sum(len(text.split()) for text in one.segments) <= longest]
    most = min(size.train, corpus.train or size.train)
    train, dev = with_smallest_digests(parts["train"], None), with_smallest_digests(parts["dev"], size.dev)
    read = {one.segments for one in train[:most]} | {one.segments for one in dev}
    return {
        "train": train[:most],
        "dev": dev,
        "unread": [*dev, *[one for one in train[most:] if one.segments not in read][: size.unread]],
        "test": with_smallest_digests(parts["test"], None if size_name == "small" else size.judged),
        "judged": with_smallest_digests([one for one in short if one.rationales or not corpus.marks], size.judged),
    }


def labels_of(on: str, data: str, size_name: str) -> tuple[str, ...]:
    """The classes."""
    if is_planted(on):
        return CLASSES
    return tuple(sorted({str(one.label) for one in parts_of(on, data, size_name)["train"]}))


def title_of(on: str, data: str) -> str:
    """What a page calls the texts; planted reasons stand in texts of ours."""
    one = CORPORA[on]
    return corpus_title(one.title, source_of(one.folder, data), one.folder) if one.folder else one.title
