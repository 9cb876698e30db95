"""The doors `accuracy` and `follows_planted_reason`: how often a model is right, and whether it follows a planted
reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from torch import Tensor

from pellucid.base.checks import known, listed, one_of
from pellucid.base.errors import BadInput, BadSetting
from pellucid.data.plant import edited
from pellucid.explaining.inputs.examples import examples_for, strange_labels
from pellucid.explaining.inputs.models import model_from
from pellucid.explaining.inputs.readings import Data, ModelSource
from pellucid.explaining.planting import FollowsPlantedReason
from pellucid.results.bootstrap import accuracy_interval, f1_interval, matthews_interval
from pellucid.results.table import Interval
from pellucid.run.model import Model
from pellucid.run.packing import scheduler_for
from pellucid.run.predicting import refuse_infinite
from pellucid.run.scheduler import evaluate_rows
from pellucid.run.target import class_logits
from pellucid.text.example import Example
from pellucid.text.label_map import LabelMap

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
    measure: Measure = "accuracy",
    positive: str | None = None,
) -> Interval:
    """The share of examples whose predicted class is their label, with a 95 % bootstrap interval over texts.

    model: from `load`, `train` or another door; or a folder, a hub name or a pipeline.
    examples: labelled texts: examples, a data frame, a `datasets.Dataset`, the name or path of data.
    text, label: columns of a table, where they have unusual names; two columns of texts in a tuple for pairs.
    label_map: label -> class of the model, for labels under other names.
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
        model, examples, text=text, label=label, label_map=label_map, names_data=True, strange="allowed"
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
    predicted = [model.labels[number] for number in class_logits_of(model, examples).argmax(-1).tolist()]
    gold = [example.label or "" for example in examples]
    if measure == "mcc":
        return matthews_interval(gold, predicted)
    if measure in ("f1", "macro_f1"):
        return f1_interval(gold, predicted, classes)
    return accuracy_interval([one == other for one, other in zip(predicted, gold, strict=True)])


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
