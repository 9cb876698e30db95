"""The doors `accuracy` and `learnt`: how often a model is right, and whether it follows a planted reason."""

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
from pellucid.evaluation.protocols.follows_planted_reason import Learnt
from pellucid.evaluation.shared.case import refuse_infinite
from pellucid.evaluation.shared.summary import accuracy_interval


def answers(model: Model, examples: Sequence[Example]) -> Tensor:
    """[example class]: the logits of whole texts; raises `ModelCannot` where one is not a finite number."""
    logits = evaluate_rows(model, scheduler_for(model), model.encode(examples).rows)
    refuse_infinite(logits, examples, model, "as they are; its weights may not be numbers")
    return class_logits(logits, model.problem)


def accuracy(model: Model, examples: Sequence[Example]) -> Interval:
    """Share of examples whose predicted class is their label, with a 95 % bootstrap interval over texts."""
    missing = [example.id for example in examples if example.label not in model.labels]
    if missing or not examples:
        raise BadInput(
            f"Accuracy needs examples labelled with {', '.join(model.labels)}; not so: {missing[:3] or 'none given'}."
        )
    predicted = answers(model, examples).argmax(-1).tolist()
    return accuracy_interval(
        [model.labels[number] == example.label for number, example in zip(predicted, examples, strict=True)]
    )


def learnt(model: Model, examples: Sequence[Example]) -> Learnt:
    """Whether a model's answers on planted texts follow the reason: accuracy as they are and after each edit.

    Nothing can be said about explanations of a model whose `holds()` is False; `check()` raises `ModelCannot` then.
    """
    decoyed = [example for example in examples if "distractor_edit" in example.meta]
    return Learnt(
        accuracy(model, examples),
        accuracy(model, edited(examples, "counterfactual")),
        accuracy(model, edited(decoyed, "distractor_edit")) if decoyed else None,
    )
