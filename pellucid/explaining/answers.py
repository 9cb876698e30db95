"""The doors `predict`, `select`, `accuracy`, `follows_planted_reason`: what a model answers, and where it is right."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar, get_args

from torch import Tensor

from pellucid.base.checks import in_syntax, known, listed, one_of, whole
from pellucid.base.errors import BadInput, BadSetting, ModelCannot
from pellucid.data.plant import edited
from pellucid.drawing.terminal import progress_bar
from pellucid.explaining.inputs.examples import examples_for, strange_labels
from pellucid.explaining.inputs.models import any_model_from, model_from
from pellucid.explaining.inputs.readings import Data, ModelSource
from pellucid.explaining.planting import FollowsPlantedReason
from pellucid.results.bootstrap import accuracy_interval, f1_interval, matthews_interval
from pellucid.results.explanation import UNSURE, Prediction
from pellucid.results.table import Interval
from pellucid.run.blank import HIGHEST_SEED
from pellucid.run.model import Model
from pellucid.run.packing import scheduler_for
from pellucid.run.predicting import predictions, refuse_infinite
from pellucid.run.scheduler import evaluate_rows
from pellucid.run.target import class_logits, probabilities
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
    skip_bad_rows: bool = False,
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
    skip_bad_rows: leave out rows without a text, or that cannot be read, with a warning that counts them.

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
    examples = examples_for(
        model, texts, text=text, label=label, label_map=label_map, skip_bad_rows=skip_bad_rows, strange="allowed"
    )
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
    for setting, count in (("limit", limit), ("sample", sample)):
        if count is not None:
            whole(setting, count, 1, MOST_TEXTS)


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


# The doors `accuracy` and `follows_planted_reason`: how often a model is right, and whether it follows a planted
# reason.

Measure = Literal["accuracy", "mcc", "f1", "macro_f1"]


def class_logits_of(model: Model, examples: Sequence[Example]) -> Tensor:
    """[example class]: the logits of whole texts; raises `ModelCannot` where a logit is not a finite number."""
    logits = evaluate_rows(model, scheduler_for(model), model.encode(examples).rows)
    refuse_infinite(logits, examples, model, "as they are; its weights may not be numbers")
    return class_logits(logits, model.problem)


def accuracy(
    model: ModelSource,
    examples: Data,
    *,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    measure: Measure = "accuracy",
    positive: str | None = None,
) -> Interval:
    """The share of examples whose predicted class is their label, with a 95 % bootstrap interval over texts.

    model: from `load`, `train` or another door; or a folder, a hub name or a pipeline.
    examples: labelled texts: examples, a data frame, a `datasets.Dataset`, the name or path of data.
    text, label: columns of a table, where they have unusual names; two columns of texts in a tuple for pairs.
    label_map: label -> class of the model, for labels under other names.
    skip_bad_rows: leave out rows without a text, or that cannot be read, with a warning that counts them.
    measure: "accuracy", or "mcc" for the Matthews correlation of labels and predicted classes, of any number of
        classes: 1 where all are right, 0 where predictions have nothing to do with labels, down to -1. It is 0 too
        where all labels are one class, or all predictions are. "f1" for the F1 of one class, "macro_f1" for the mean F1
        of the model's classes.
    positive: the class whose F1 it is; None: the second of a model's two ("class 1").

    Returns the share and the bounds of its interval, each 0 to 1 (correlations: -1 to 1). Raises `BadInput` where there
    are no examples, or one has no label among the model's classes, `BadSetting` for another measure, and for a positive
    class that the model does not have or that is left open among more than two.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> reviews = [("A good film.", "positive"), ("Not good at all.", "negative"), ("Dull.", "negative")]
    >>> print(pellucid.accuracy(model, reviews))
    0.667 [0.000, 1.000]
    >>> round(pellucid.accuracy(model, reviews, measure="mcc").mean, 3)
    0.5
    """
    one_of("measure", measure, get_args(Measure))
    model = model_from(model)
    classes = _classes_of_f1(model, measure, positive)
    examples = examples_for(
        model,
        examples,
        text=text,
        label=label,
        label_map=label_map,
        skip_bad_rows=skip_bad_rows,
        names_data=True,
        strange="allowed",
    )
    return accuracy_of(model, examples, measure, classes)


def _classes_of_f1(model: Model, measure: Measure, positive: str | None) -> tuple[str, ...]:
    """The classes whose mean F1 a measure is; none for other measures."""
    if measure != "f1":
        if positive is not None:
            raise BadSetting(f"positive= goes with measure='f1', and measure={measure!r}; leave positive away.")
        return model.labels if measure == "macro_f1" else ()
    if positive is None:
        if len(model.labels) != 2:
            raise BadSetting(
                f"measure='f1' is of one class, and {model.name} has {len(model.labels)}: {listed(model.labels)}; name "
                f"one: positive=, or give measure='macro_f1'."
            )
        return model.labels[1:]
    known("class", positive, model.labels)
    return (positive,)


def accuracy_of(
    model: Model, examples: Sequence[Example], measure: Measure = "accuracy", classes: Sequence[str] = ()
) -> Interval:
    """The same of examples and a model that are ready; classes: those whose mean F1 is meant."""
    if not examples:
        raise BadInput("Accuracy needs labelled examples; none came.")
    if sentence := strange_labels(model, examples):
        raise BadInput(f"Accuracy needs labels that are classes of the model. {sentence}")
    missing = [example.id for example in examples if example.label not in model.labels]
    if missing:
        raise BadInput(
            f"Accuracy needs examples labelled with {listed(model.labels)}; {len(missing)} have no such label (the "
            f"first: {listed(missing[:3])})."
        )
    predicted = [model.labels[index] for index in class_logits_of(model, examples).argmax(-1).tolist()]
    gold = [example.label or "" for example in examples]
    if measure == "mcc":
        return matthews_interval(gold, predicted)
    if measure in ("f1", "macro_f1"):
        return f1_interval(gold, predicted, classes)
    return accuracy_interval([answered == labelled for answered, labelled in zip(predicted, gold, strict=True)])


def follows_planted_reason(model: ModelSource, examples: Data) -> FollowsPlantedReason:
    """Whether a model's predictions on planted texts follow the planted reason: accuracy before and after each edit.

    model: from `load`, `train` or another door; or a folder, a hub name or a pipeline.
    examples: texts that `plant` made, or the path of their file.

    Returns the shares of right predictions with their intervals. Where the result's `holds()` is False, the model does
    not follow the reason, and its explanations say nothing about methods; `check()` then raises `ModelCannot`. Raises
    `BadInput` for texts that were not planted.

    >>> test = pellucid.plant("token", n=100)["test"]
    >>> classes = sorted({example.label for example in test})
    >>> guesses = pellucid.from_function(lambda texts: [[0.5, 0.5] for _ in texts], classes)
    >>> pellucid.follows_planted_reason(guesses, test).holds()
    False
    """
    model = model_from(model)
    examples = examples_for(model, examples, names_data=True, strange="allowed")
    decoyed = [example for example in examples if "distractor_edit" in example.meta]
    return FollowsPlantedReason(
        accuracy_of(model, examples),
        accuracy_of(model, edited(examples, "counterfactual")),
        accuracy_of(model, edited(decoyed, "distractor_edit")) if decoyed else None,
    )
