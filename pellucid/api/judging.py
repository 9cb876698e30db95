"""The doors `accuracy` and `follows_planted_reason`: how often a model is right, and whether it follows a planted reason."""

from collections.abc import Sequence

from torch import Tensor

from pellucid.core.foundation.errors import BadInput
from pellucid.core.passes.edited_rows import evaluate_rows
from pellucid.core.passes.model import Model
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.passes.target import class_logits
from pellucid.core.results.table import Interval
from pellucid.core.text.example import Example
from pellucid.datasets.planting.rows import edited
from pellucid.evaluation.protocols.follows_planted_reason import FollowsPlantedReason
from pellucid.evaluation.shared.case import refuse_infinite
from pellucid.evaluation.shared.summary import accuracy_interval


def class_logits_of(model: Model, examples: Sequence[Example]) -> Tensor:
    """[example class]: the logits of whole texts; raises `ModelCannot` where a logit is not a finite number."""
    logits = evaluate_rows(model, scheduler_for(model), model.encode(examples).rows)
    refuse_infinite(logits, examples, model, "as they are; its weights may not be numbers")
    return class_logits(logits, model.problem)


def accuracy(model: Model, examples: Sequence[Example]) -> Interval:
    """The share of examples whose predicted class is their label, 0 to 1, with a 95 % bootstrap interval over texts.

    Raises `BadInput` where there are no examples, or one has no label among the model's classes.
    """
    missing = [example.id for example in examples if example.label not in model.labels]
    if missing or not examples:
        raise BadInput(
            f"Accuracy needs examples labelled with {', '.join(model.labels)}; not so: {missing[:3] or 'none given'}."
        )
    predicted = class_logits_of(model, examples).argmax(-1).tolist()
    return accuracy_interval(
        [model.labels[number] == example.label for number, example in zip(predicted, examples, strict=True)]
    )


def follows_planted_reason(model: Model, examples: Sequence[Example]) -> FollowsPlantedReason:
    """Whether a model's predictions on planted texts follow the planted reason: accuracy before and after each edit.

    examples: texts that `plant` made. The explanations of a model that does not follow the reason show nothing: its
    result's `holds()` is False, and `check()` raises `ModelCannot`. Raises `BadInput` for texts that were not planted.
    """
    decoyed = [example for example in examples if "distractor_edit" in example.meta]
    return FollowsPlantedReason(
        accuracy(model, examples),
        accuracy(model, edited(examples, "counterfactual")),
        accuracy(model, edited(decoyed, "distractor_edit")) if decoyed else None,
    )
