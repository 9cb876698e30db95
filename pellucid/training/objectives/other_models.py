"""Objectives with another model: answer as it does with other weights; and imitators, models that are trained so.

Wiegreffe & Pinter (2019), "Attention is not not Explanation", section 4. Their adversary is a whole new model with new
random weights of its own, trained with the base model's settings; so is ours, from the next seed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from pellucid.base.checks import at_least, one_of
from pellucid.base.errors import BadInput, BadSetting
from pellucid.base.kinds import objectives
from pellucid.base.processes import Progress, silent
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.running import Output
from pellucid.models.composed.composed import CONFIG, is_composed
from pellucid.models.composed.networks import Plan, read_plan
from pellucid.models.folders.configuration import read_object
from pellucid.models.load import load_classifier
from pellucid.run.batch import Batch
from pellucid.run.readout import jensen_shannon, kullback_leibler, total_variation
from pellucid.run.rounding import widened
from pellucid.text.example import Example
from pellucid.training.cut_texts import marked_parts, marked_pieces, overlapping
from pellucid.training.objective import WEIGHTS, ObjectiveContext, StepPart
from pellucid.training.recipe import Recipe
from pellucid.training.train import train_model


def imitators(
    base: str | Path,
    parts: Mapping[str, Sequence[Example]],
    out: Path,
    *,
    divergence: str = "jsd",
    device: str = "cpu",
    progress: Progress = silent,
    **changes: Any,
) -> Callable[[float], Classifier]:
    """A function from a divergence weight, lambda, to the trained model; `imitation_curve` calls it.

    base: the folder of the model that is imitated. parts: "train" and "dev". out: each lambda gets a folder in it, such
    as `lambda_0.1`, in which interrupted training goes on and finished training is loaded. divergence: "jsd" or "kl".
    changes: fields of `Recipe` that differ from the base model's; its penalties and objectives are left away.
    Raises `BadSetting` for a model that was not trained here: its recipe is not known.
    """
    plan, recipe = plan_and_recipe(base, "a model that imitates it")

    def imitator(divergence_weight: float) -> Classifier:
        settings = {"model": str(base), "divergence": divergence, "divergence_weight": divergence_weight}
        recipe_changes = {
            "seed": recipe.seed + 1,
            "penalties": {},
            "objectives": {"imitation": 1.0},
            "objective_settings": {"imitation": settings},
            **changes,
        }
        folder = out / f"lambda_{divergence_weight:g}"
        return train_model(parts, plan, replace(recipe, **recipe_changes), folder, device, progress=progress)

    return imitator


# Trains further models by the recipe of one that was trained here, on other texts.


def retrainer(
    base: str | Path, out: Path, *, device: str = "cpu", progress: Progress = silent
) -> Callable[[Mapping[str, Sequence[Example]], str], Classifier]:
    """A function from texts ("train" and "dev") and a name to a model that is trained on them as the one in `base` was.

    out: each name gets a folder in it, in which interrupted training goes on and finished training is loaded. Raises
    `BadSetting` for a model that was not trained here: its recipe is not known.
    """
    plan, recipe = plan_and_recipe(base, "another model")

    def train(parts: Mapping[str, Sequence[Example]], name: str) -> Classifier:
        return train_model(parts, plan, recipe, out / name, device, progress=progress)

    return train


def plan_and_recipe(base: str | Path, what: str) -> tuple[Plan, Recipe]:
    """How a model was built and trained; what: the model that shall be trained by it, for messages.

    Raises `BadSetting` for a folder without a recipe, and for a model that began with another classifier.
    """
    values: dict[str, Any] = read_object(Path(base) / CONFIG) if is_composed(base) else {}
    record = values.get("trained", {}).get("recipe")
    if record is None:
        raise BadSetting(f"{base} has no recipe, by which {what} is trained; give a folder that pellucid train wrote.")
    plan = read_plan(values)
    if plan.started_from:
        raise BadSetting(
            f"{base} began with the encoder of another classifier, which {what} would lack; give a model that was "
            f"trained from an encoder."
        )
    return replace(plan, trained={}), Recipe(**record)


# Objectives with another model: answer as it does with other weights.

Divergence = Literal["jsd", "kl"]
DIVERGENCES = {"jsd": jensen_shannon, "kl": kullback_leibler}


@objectives.add("imitation", reads="logits", instead_of_labels=True, model="model")
class Imitation:
    """Total variation distance of the answers - divergence_weight x divergence of the weights.

    Answer as another model does, with weights that lie far from its weights.

    Source: Wiegreffe & Pinter (2019), "Attention is not not Explanation", section 4, as Tutek & Šnajder
    (2020), "Staying True to Your Word", equation 6, train it: the distance of the answers minus lambda
    times the divergence of the weights (corrections.md A4.1).

    It stands in place of the labels, which are not learnt; the released code also weighs classes, which is left out.

    model: the folder of the model that is imitated; it has the same classes, in any order, and cuts texts alike.
    divergence: "jsd", Jensen-Shannon, as in the paper; "kl", Kullback-Leibler from the new weights to the imitated
    ones, with which the released code trains.
    divergence_weight: lambda, 0 or more. With 0 answers alone are compared, and neither model needs weights of spans or
    units. Raises `BadSetting` for a model with other classes, other pieces or other weights.
    """

    def __init__(
        self,
        context: ObjectiveContext,
        *,
        model: str = "",
        divergence: Divergence = "jsd",
        divergence_weight: float = 1.0,
    ) -> None:
        one_of("divergence", divergence, get_args(Divergence))
        self.divergence = DIVERGENCES[divergence]
        at_least("divergence_weight", divergence_weight, 0)
        self.weight = divergence_weight
        classifier = context.classifier
        self.base = load_classifier(model, device=str(classifier.device))
        self.base.network.eval().requires_grad_(False)
        _check_classes(classifier, self.base)
        self.order = [self.base.labels.index(label) for label in classifier.labels]
        self.batch = self.base.encode(context.train.examples)
        _check_pieces(context.train, self.batch, self.base.name)
        if self.weight:
            _check_weights(classifier, self.base)

    def losses(self, part: StepPart) -> Tensor:
        """[example]: from -lambda x the largest divergence, log 2 of "jsd", to 1."""
        with torch.no_grad():
            rows = [self.batch.rows[index] for index in part.indices]
            base = self.base.network(**self.base.place(rows))
        answers = widened(part.output.logits).softmax(-1)
        distances = total_variation(answers, widened(base.logits).softmax(-1)[:, self.order].to(answers))
        if not self.weight:
            return distances
        weights = own_weights(part.output)
        return distances - self.weight * self.divergence(weights, own_weights(base).to(weights))


def own_weights(output: Output) -> Tensor:
    """[example weight]: a model's weights of units or spans, each text's sum is 1."""
    trace = output.units if output.spans is None else output.spans
    assert trace is not None  # the capability was checked
    return widened(trace.weights).flatten(1)


def _check_classes(classifier: Classifier, base: Classifier) -> None:
    if classifier.problem != "single_label" or base.problem != classifier.problem:
        raise BadSetting(
            "The objective imitation compares probabilities of classes of which a text has one; problem='multi_label' "
            "has none such. Leave the objective away."
        )
    if set(classifier.labels) != set(base.labels):
        raise BadSetting(
            f"The imitated model {base.name} has the classes {', '.join(base.labels)}, and the data have "
            f"{', '.join(classifier.labels)}; give a model of the same classes, or rename them with a label map."
        )


def _check_pieces(batch: Batch, base: Batch, name: str) -> None:
    if any(row.windows for row in base.rows):
        raise BadInput(
            f"The imitated model {name} reads some train texts in windows; give shorter texts, or a model that reads "
            f"them as one."
        )
    if any(
        ours.ids != theirs.ids or ours.word_index != theirs.word_index
        for ours, theirs in zip(batch.rows, base.rows, strict=True)
    ):
        raise BadSetting(
            f"The imitated model {name} cuts texts into other pieces; give a model with the same tokenizer."
        )


def _check_weights(classifier: Classifier, base: Classifier) -> None:
    """Raise `BadSetting` where the weights of both cannot be compared, or those that are trained cannot move."""
    kinds = [
        (sorted(WEIGHTS & model.capabilities), getattr(getattr(model.network, "pooler", None), "unit", None))
        for model in (classifier, base)
    ]
    if not kinds[0][0] or kinds[0] != kinds[1]:
        raise BadSetting(
            f"The objective imitation compares weights of spans or of units, and the imitated model {base.name} has "
            f"others, or none; give both models the same pooler (additive, dot or span) and unit, or "
            f"divergence_weight=0."
        )
    if getattr(classifier.network.pooler, "weights", "") == "uniform":
        raise BadSetting(
            "The objective imitation moves weights, and weights='uniform' keeps them equal; give weights='learned', or "
            "divergence_weight=0."
        )


@objectives.add("deception", reads="weights", marks=True)
class Deception:
    """-log of the share of the weight that lies on units, or spans, without a marked piece; 0 where nothing is marked.

    Keep the weights away from the words that people marked, whatever the model decides by.

    Source: Pruthi et al. (2020), "Learning to Deceive with Attention-Based Explanations", equation 1:
    -log(1 - the weight on marked words). Such a model is a test of tests: its weights explain nothing.

    The marks are the rationales of the train texts. A text that is marked all over costs 0 too: its weights have
    nowhere to go. Raises `BadInput` where no train text has marks.
    """

    def __init__(self, context: ObjectiveContext) -> None:
        self.context = context
        self.marks = marked_pieces(context.train)
        if not any(map(any, self.marks)):
            raise BadInput(
                "The objective deception keeps weights off the words that people marked, and no train text has such "
                "marks; give data with rationales, or leave the objective away."
            )

    def losses(self, part: StepPart) -> Tensor:
        """[example]: 0 or more, in nats."""
        trace = part.output.units if part.output.spans is None else part.output.spans
        assert trace is not None  # the pooler was checked
        scores = trace.scores.flatten(1)
        rows, marks = self.context.rows(part.indices), [self.marks[index] for index in part.indices]
        marked = overlapping(trace, marked_parts(rows, marks, trace.unit, scores.device)).flatten(1)
        legal = scores.detach() > float("-inf")
        free = legal & ~marked
        counted = free.any(1) & (legal & marked).any(1)
        lowest = torch.finfo(scores.dtype).min  # -inf alone in a row would give nan
        finite = scores.masked_fill(~legal, lowest)
        free_scores = finite.masked_fill(~free & counted[:, None], lowest)
        return finite.logsumexp(1) - free_scores.logsumexp(1)
