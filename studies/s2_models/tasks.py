"""The four data sets of the paper: their classes, how their texts are prepared, the paper's accuracies, and which texts
are used.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from pellucid.base.kinds import datasets
from pellucid.data.formats.classes import FIVE, parse
from pellucid.data.load import load_examples
from pellucid.data.shared.part_files import PARTS
from pellucid.models.classifiers.hugging_face import load_encoder
from pellucid.models.classifiers.tokens import TokenizedText, Tokenizer, tokenized
from pellucid.text.example import Example
from studies.s3_accuracy.models import PRETRAINED
from studies.shared.data_folders import corpus_title, source_of
from studies.shared.text_choice import with_smallest_digests

RELEASED_PIECES = 128  # the released code reads no more of a text, special tokens included (corrections.md A2.9)
VICTIMS = ("transformer", "bilstm")  # also trained on SST-5
SST5 = "sst5"


@dataclass(frozen=True)
class SentimentTask:
    """title: of the data set. folder: in the folder of all data sets. labels: the last one is what the released code
    explains. accuracy: the paper's, in percent; train: its texts to learn from. pieces: at most so many are read, None
    for all.
    """

    title: str
    folder: str
    labels: tuple[str, ...]
    accuracy: float
    train: int
    pieces: int | None = None


TASKS = {
    SST5: SentimentTask("SST-5", "sst5", FIVE, 56.9, 156_817),
    "semeval": SentimentTask("SemEval", "semeval2017_task4", ("negative", "neutral", "positive"), 74.2, 39_656),
    "imdb": SentimentTask("IMDb", "imdb", ("negative", "positive"), 89.0, 24_999, RELEASED_PIECES),
    "yelp5": SentimentTask("Yelp-5", "yelp5", ("1", "2", "3", "4", "5"), 66.0, 649_999, RELEASED_PIECES),
}


@dataclass(frozen=True)
class SentimentTaskSize:
    """train, dev, test: texts at most, those with the smallest digests; None for all. epochs: of MiniLM; victims: of
    the others.
    """

    train: int | None
    dev: int | None
    test: int | None
    epochs: int
    victims: int = 3

    def most(self, split: str) -> int | None:
        """The texts of a part."""
        return {"train": self.train, "dev": self.dev, "test": self.test}[split]


@dataclass(frozen=True)
class ModelsOfSentimentSize:
    """tasks: how much of each. seeds: trainings of each model. width: numbers of a state of the models that begin with
    random vectors. phrases: whether SST-5 is learnt from all distinct phrases.
    """

    tasks: Mapping[str, SentimentTaskSize]
    seeds: int
    width: int
    phrases: bool = False


SIZES = {
    "tiny": ModelsOfSentimentSize(
        {SST5: SentimentTaskSize(24, 9, 18, 1, 1), "imdb": SentimentTaskSize(24, 9, 18, 1)}, seeds=2, width=8
    ),
    "small": ModelsOfSentimentSize(
        {
            SST5: SentimentTaskSize(4_000, 400, 1_000, 2),
            "semeval": SentimentTaskSize(4_000, 400, 1_000, 2),
            "imdb": SentimentTaskSize(1_200, 200, 500, 2),
            "yelp5": SentimentTaskSize(1_200, 200, 500, 2),
        },
        seeds=3,
        width=256,
    ),
    "paper": ModelsOfSentimentSize(
        {task: SentimentTaskSize(None, None, None, 3) for task in TASKS}, seeds=3, width=256, phrases=True
    ),
}


def labels_of(task: str, data: str) -> tuple[str, ...]:
    """The classes of a task; a registered data set, which stands in for every task, has its own."""
    return tuple(datasets.get(data).facts["classes"]) if data in datasets.names() else TASKS[task].labels


def title_of(task: str, data: str) -> str:
    """What a page calls the texts of a task; a registered data set stands in for every task."""
    return corpus_title(TASKS[task].title, source_of(TASKS[task].folder, data), TASKS[task].folder)


def models_of(task: str) -> tuple[str, ...]:
    """The models that are trained on a task."""
    return (PRETRAINED, *(VICTIMS if task == SST5 else ()))


@cache
def task_parts(task: str, data: str, encoder: str, size_name: str, phrases: bool = False) -> dict[str, list[Example]]:
    """The texts that are learnt from, that choose the epoch, and that are judged, as models read them."""
    parts = {split: load_examples(source_of(TASKS[task].folder, data), split) for split in PARTS}
    if task == SST5 and (phrases or SIZES[size_name].phrases):
        parts["train"] = distinct_phrases(parts["train"])
    if task == "semeval":
        parts = {split: [masked_tweet(one) for one in texts] for split, texts in parts.items()}
    size = SIZES[size_name].tasks[task]
    selection = {split: with_smallest_digests(texts, size.most(split)) for split, texts in parts.items()}
    most = TASKS[task].pieces
    if most is None:
        return selection
    _, tokenizer = load_encoder(encoder)
    return {split: [first_pieces(one, tokenizer, most) for one in texts] for split, texts in selection.items()}


def distinct_phrases(sentences: Iterable[Example]) -> list[Example]:
    """All phrases of the sentences' trees (`meta["tree"]`), each text once, with the label that it first has
    (corrections.md A2.14).

    Texts that differ in case alone are one: so counted, SST-5's train part has the paper's 156,817. Sentences without a
    tree stay as they are.
    """
    phrases: dict[str, Example] = {}
    for sentence in sentences:
        if "tree" not in sentence.meta:
            phrases.setdefault(sentence.segments[0].lower(), sentence)
            continue
        words, nodes = parse(sentence.meta["tree"])
        for number, (sentiment, first, end) in enumerate(nodes):
            text = " ".join(words[first:end])
            phrases.setdefault(text.lower(), Example((text,), FIVE[sentiment], id=f"{sentence.id}-{number}"))
    return list(phrases.values())


def masked_tweet(example: Example) -> Example:
    """A tweet with its hashtags and addresses masked as in the train part of the data, where nothing else is there to
    learn from.
    """
    text = re.sub(r"https?\S*", "@url", re.sub(r"#\w+", "@hashtag", example.segments[0]))
    return replace(example, segments=(text,))


def first_pieces(example: Example, tokenizer: Tokenizer, most: int) -> Example:
    """The example's text as far as its first `most` pieces go, special tokens counted; marks do not survive a cut."""
    text = example.segments[0]
    encoded: TokenizedText = tokenized(tokenizer, (text,), truncation=False, return_offsets_mapping=True)
    offsets = encoded["offset_mapping"]
    ends = [end for (_, end), segment in zip(offsets, encoded.sequence_ids(0), strict=True) if segment is not None]
    too_many = len(offsets) - most
    if too_many <= 0:
        return example
    return replace(example, segments=(text[: ends[len(ends) - too_many - 1]],), rationales=())


def texts_longer_than(texts: Sequence[Example], words: int) -> list[Example]:
    """The texts with more words than that, counted at blanks."""
    return [one for one in texts if len(one.segments[0].split()) > words]
