"""The doors `select` and `predict`: what a model answers to texts, and those that it gets wrong, right or is unsure
of.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from pellucid.base.checks import in_syntax, listed, one_of, whole
from pellucid.base.errors import BadInput, ModelCannot
from pellucid.drawing.progress_bar import progress_bar
from pellucid.explaining.accuracy import class_logits_of
from pellucid.explaining.inputs.examples import examples_for
from pellucid.explaining.inputs.models import any_model_from, model_from
from pellucid.explaining.inputs.readings import Data, ModelSource
from pellucid.results.explanation import UNSURE, Prediction
from pellucid.run.blank import HIGHEST_SEED
from pellucid.run.model import Model
from pellucid.run.predicting import predictions
from pellucid.run.target import probabilities
from pellucid.text.example import Example
from pellucid.text.label_map import LabelMap, label_caution

Only = Literal["wrong", "right", "unsure"]
Sort = Literal["confidence", "order"]
Item = TypeVar("Item")
MOST_TEXTS = 1_000_000_000  # more than memory holds


@dataclass(frozen=True)
class ClassAnswer:
    """A model's answer to a text: the class, its probability, and the margin to the next class, both 0 to 1."""

    label: str
    probability: float
    margin: float


def select(
    model: ModelSource,
    texts: Data,
    *,
    only: Only | None = None,
    sort: Sort = "order",
    limit: int | None = None,
    sample: int | None = None,
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
) -> list[Example]:
    """Select texts by the model's answers: first `only`, of these a `sample`, then `sort`, then the first `limit`.

    model: from `load`, `train` or another door; it reads the texts only where `only` or `sort` need its answers.
    texts: a string, a pair, an `Example`, a list of them; a data frame, series or `datasets.Dataset`; a `pathlib.Path`.
    only: "wrong" and "right", by the label, or "unsure": the two highest probabilities differ by less than 0.2. None:
        all.
    sort: "confidence", the highest probability first, or "order", as they came.
    limit: at most so many, 1 or more; None: all.
    sample: so many at random, 1 or more, or all where there are fewer; None: all.
    seed: a whole number; the seed of the sample.
    text, label: columns of a table, where they have unusual names; two columns of texts in a tuple for pairs.
    label_map: label -> class of the model, for labels under other names.

    Returns the selected examples. Raises `BadInput` for "wrong" and "right" where a text has no label among the
    classes, and where nothing is left; `ModelCannot` where answers are needed of a model that gives a text several
    labels or a number.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> labelled = {"A good film.": "positive", "No good.": "negative", "Dull.": "negative"}
    >>> texts = [pellucid.Example((text,), label) for text, label in labelled.items()]
    >>> [example.text for example in pellucid.select(model, texts, only="wrong")]
    ['No good.']
    >>> [example.text for example in pellucid.select(model, texts, sort="confidence", limit=2)]
    ['A good film.', 'No good.']
    """
    _check(only, sort, limit, sample)
    whole("seed", seed, 0, HIGHEST_SEED)
    model = any_model_from(model)
    examples = examples_for(model, texts, text=text, label=label, label_map=label_map, strange="allowed")
    answers = answers_of(model, examples) if only is not None or sort == "confidence" else None
    positions = list(range(len(examples)))
    if only is not None and answers is not None:
        positions = _those(only, examples, answers, model.labels)
    positions = some_of(positions, limit=None, sample=sample, seed=seed)
    if sort == "confidence" and answers is not None:
        positions.sort(key=lambda position: -answers[position].probability)
    return [examples[position] for position in positions[:limit]]


def some_of(every: Sequence[Item], *, limit: int | None, sample: int | None, seed: int) -> list[Item]:
    """A random sample in its original order, and of that the first ones; None: all."""
    some = list(every)
    if sample is not None and sample < len(some):
        drawn = sorted(random.Random(seed).sample(range(len(some)), sample))
        some = [some[position] for position in drawn]
    return some[:limit]


def answers_of(model: Model, examples: Sequence[Example]) -> list[ClassAnswer]:
    """The model's answer to each example; raises `ModelCannot` where it does not choose one class."""
    if model.problem in ("multi_label", "regression"):
        does = "can give a text several labels" if model.problem == "multi_label" else "answers with a number"
        raise ModelCannot(
            f"{model.name} {does}, so no text is right, wrong or unsure; leave "
            f"{in_syntax('only= and sort=', '--only and --sort')} away."
        )
    if not examples:
        return []
    every = probabilities(class_logits_of(model, examples), model.problem)
    highest, classes = every.sort(-1, descending=True)
    return [
        ClassAnswer(model.labels[order[0]], first, first - second)
        for order, (first, second, *_) in zip(classes.tolist(), highest.tolist(), strict=True)
    ]


def _check(only: str | None, sort: str, limit: int | None, sample: int | None) -> None:
    if only is not None:
        one_of("only", only, ("wrong", "right", "unsure"))
    one_of("sort", sort, ("confidence", "order"))
    for setting, number in (("limit", limit), ("sample", sample)):
        if number is not None:
            whole(setting, number, 1, MOST_TEXTS)


def _those(only: Only, examples: Sequence[Example], answers: Sequence[ClassAnswer], labels: Sequence[str]) -> list[int]:
    """The positions of the texts that are wrong, right or unsure."""
    if only == "unsure":
        positions = [i for i, answer in enumerate(answers) if answer.margin < UNSURE]
    else:
        _check_labels(only, examples, labels)
        positions = [
            i
            for i, (example, answer) in enumerate(zip(examples, answers, strict=True))
            if (example.label == answer.label) == (only == "right")
        ]
    if not positions:
        raise BadInput(
            f"None of the {len(examples):,} texts is {only}; leave {in_syntax(f'only={only!r}', '--only')} away."
        )
    return positions


def _check_labels(only: str, examples: Sequence[Example], labels: Sequence[str]) -> None:
    missing = sum(example.label not in labels for example in examples)
    if missing:
        reason = label_caution(examples, labels) or (
            f"{missing:,} of {len(examples):,} texts have none; label every text with one of {listed(labels)}."
        )
        raise BadInput(f"What is {only} is known by labels. {reason}")


# The door `predict`: what a model answers to texts.


def predict(
    model: ModelSource,
    texts: Data,
    *,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    progress: bool | None = None,
) -> list[Prediction]:
    """What a model answers to each text: the prediction that its explanation reports.

    model: from `load`, `train` or another door; or a folder, a hub name, a text-classification pipeline of transformers
        or a fitted one of scikit-learn.
    texts: a string, a pair, an `Example`, a list of them; a data frame, series or `datasets.Dataset`; a `pathlib.Path`.
    text, label: columns of a table, where they have unusual names; two columns of texts in a tuple for pairs.
    progress: draw a progress bar; None: when a terminal is watching.

    Returns one prediction a text, in order: its label, and for every class the logit and the probability. Raises
    `BadInput` for a text that cannot be read, `ParityBroken` where texts together get other answers than alone.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> prediction = pellucid.predict(model, ["A good film.", "Dull."])[0]
    >>> prediction
    <Prediction positive 0.90>
    >>> [(label, round(share, 2)) for label, share in zip(prediction.labels, prediction.probabilities)]
    [('negative', 0.1), ('positive', 0.9)]
    """
    model = model_from(model)
    examples = examples_for(model, texts, text=text, label=label, strange="allowed")
    with progress_bar(progress) as show_progress:
        return predictions(model, examples, show_progress)
