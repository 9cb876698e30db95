"""The corpora, the victims, the attacks on each, and how much of everything is done."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pellucid.attacks.named import AttackPlan
from pellucid.data.load import load_examples
from pellucid.models.composed.networks import Plan
from pellucid.text.example import Example
from pellucid.training.recipe import Recipe
from studies.shared.self_explaining_models import CONCENTRATION, SCORE_START
from studies.shared.study import Settings
from studies.shared.text_choice import with_smallest_digests

SELF, PLAIN = "self", "plain"  # the victim that explains itself, and its twin that does not
SPANS = "span_paraphrase"
GUARDED = ("content_words", "antonyms", "known_words", ("share_edited", {"most": 0.1}))
# name -> what `pellucid.attack` is given. "guarded": an edit must also keep the meaning, as far as the guards can tell.
ATTACKS: Mapping[str, str | AttackPlan] = {
    "random": "random",
    "gradient": "gradient",
    "text_order": "text_order",
    "word_saliency": "word_saliency",
    "pwws": "pwws",
    SPANS: SPANS,
    "pwws, guarded": AttackPlan("saliency_times_gain", ("synonyms",), GUARDED),
    f"{SPANS}, five spans": SPANS,
}
OWN_SETTINGS: Mapping[str, Mapping[str, Any]] = {f"{SPANS}, five spans": {"n_spans": 5}}  # Any: settings of attacks
ON_PLAIN = ("random", "pwws", SPANS)  # the last under the spans of the self-explaining twin
PAPER = {
    "imdb": {
        "before": 84.86,
        "random": 37.79,
        "gradient": 14.57,
        "text_order": 3.57,
        "word_saliency": 3.93,
        "pwws": 2.0,
        SPANS: 0.86,
    },
    "yahoo": {
        "before": 92.0,
        "random": 74.5,
        "gradient": 73.8,
        "text_order": 62.5,
        "word_saliency": 62.5,
        "pwws": 53.0,
        SPANS: 43.14,
    },
}  # table 8, accuracies in percent


@dataclass(frozen=True)
class AttackTask:
    """title: of the corpus. encoder, settings: of the victims. plain: the twin's pooler. sentences: whether spans stay
    within them.
    """

    title: str
    encoder: str
    plain: str
    settings: Mapping[str, object] = field(default_factory=dict)
    sentences: bool = False
    learning_rate: float = 1e-3


_BILSTM = {"width": 128}  # 64 in each direction, as the paper's
TASKS = {
    "imdb": AttackTask("IMDb", "bilstm", "mean", _BILSTM, sentences=True),
    "yahoo": AttackTask("Yahoo! Answers, two topics", "bilstm", "mean", _BILSTM, sentences=True),
    "sst2": AttackTask("SST-2", "minilm", "first_token", learning_rate=3e-5),
    "pocket": AttackTask("pocket", "bilstm", "mean", {"width": 8, "vectors": "random", "vector_width": 8}),
}


@dataclass(frozen=True)
class AttackedCorpus:
    """train, dev, test: texts at most, those with the smallest digests. words: the first ones of a text that are read,
    None for all.
    """

    train: int
    dev: int
    test: int
    epochs: int
    words: int | None = None
    batch_size: int = 32


@dataclass(frozen=True)
class AttacksSize:
    """corpora: how much of each. seeds: trainings of each victim."""

    corpora: Mapping[str, AttackedCorpus]
    seeds: int = 3


SIZES = {
    "tiny": AttacksSize({"pocket": AttackedCorpus(60, 12, 9, 3, 12)}, 1),
    "small": AttacksSize(
        {
            "imdb": AttackedCorpus(4_000, 500, 100, 4, 200, 16),
            "yahoo": AttackedCorpus(3_600, 400, 100, 4, 150, 16),
            "sst2": AttackedCorpus(6_920, 872, 200, 3),
            "pocket": AttackedCorpus(2_000, 500, 60, 4),
        }
    ),
    "paper": AttacksSize(
        {
            "imdb": AttackedCorpus(4_500, 500, 500, 6, None, 16),
            "yahoo": AttackedCorpus(3_600, 400, 400, 6, None, 16),
            "sst2": AttackedCorpus(6_920, 872, 1_821, 3),
        },
        5,
    ),
}


def parts_of(settings: Settings) -> dict[str, list[Example]]:
    """Texts to learn from, to choose the epoch by, and to attack; cut after the size's number of words."""
    size = corpus_size(settings)
    counts = {"train": size.train, "dev": size.dev, "test": size.test}
    return {
        part: [_cut(one, size.words) for one in with_smallest_digests(load_examples(settings.data, part), count)]
        for part, count in counts.items()
    }


def corpus_size(settings: Settings) -> AttackedCorpus:
    """How much of the task's corpus is used."""
    corpora: Mapping[str, AttackedCorpus] = settings.size.corpora
    return corpora[settings.own["task"]]


def plan_of(task: AttackTask, victim: str, labels: tuple[str, ...]) -> Plan:
    """What a victim is made of."""
    if victim == PLAIN:
        return Plan(task.encoder, task.plain, {}, labels, encoder_settings=dict(task.settings))
    within = {"within": "sentence"} if task.sentences else {}
    pooler = {"score_start": SCORE_START, **within}
    return Plan(task.encoder, "span", pooler, labels, encoder_settings=dict(task.settings))


def recipe_of(task: AttackTask, victim: str, size: AttackedCorpus, seed: int) -> Recipe:
    """How it is trained."""
    penalties = {"concentration": CONCENTRATION} if victim == SELF else {}
    return Recipe(
        epochs=size.epochs,
        batch_size=size.batch_size,
        learning_rate=task.learning_rate,
        penalties=penalties,
        seed=seed,
    )


def attacks_on(victim: str) -> tuple[str, ...]:
    """The attacks that a victim gets."""
    return tuple(ATTACKS) if victim == SELF else ON_PLAIN


def _cut(example: Example, words: int | None) -> Example:
    segments = tuple(" ".join(text.split()[:words]) for text in example.segments)
    return replace(example, segments=segments, rationales=()) if words else example
