"""An objective: what a training learns besides the labels, or instead of them, with a pass or a model of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from pellucid.base.entry import Entry
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import objectives, penalties, poolers
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.running import Output
from pellucid.models.composed.networks import EncoderAndHead, Plan
from pellucid.run.batch import Batch, Row
from pellucid.training.recipe import Recipe


@dataclass(frozen=True, eq=False)
class ObjectiveContext:
    """What an objective is made from: the classifier before its first step, the encoded train texts and the recipe."""

    classifier: Classifier
    train: Batch
    recipe: Recipe

    def rows(self, indices: Sequence[int]) -> list[Row]:
        """The rows of some train texts."""
        return [self.train.rows[index] for index in indices]

    def autocast(self) -> torch.autocast:
        """The context that the passes of training run in."""
        return self.recipe.autocast(self.classifier.device)


@dataclass(frozen=True, eq=False)
class StepPart:
    """Texts of one step that are computed at once.

    indices: their numbers among the train texts. output: what the network answered to them, with a graph. done: how
    many steps were made before.
    """

    indices: Sequence[int]
    output: Output
    done: int


class Objective(Protocol):
    """One objective of one training; it keeps nothing from step to step, so that a killed training can go on."""

    def losses(self, part: StepPart) -> Tensor:
        """[example]: a finite number for each text, less is better; training minimises their mean times the weight."""
        ...


def objectives_of(
    context: ObjectiveContext, weights: Mapping[str, float] | None = None
) -> list[tuple[float, Objective]]:
    """Objectives with their weights, None for all of the recipe; those of weight 0 are not made, so they ask for
    nothing.
    """
    recipe = context.recipe
    entries = [
        (float(weight), objectives.get(name))
        for name, weight in (recipe.objectives if weights is None else weights).items()
        if weight
    ]
    settings = recipe.objective_settings
    return [
        (weight, entry.make(context, **entry.settings(dict(settings.get(entry.name, {}))))) for weight, entry in entries
    ]


# Whether a penalty has something to act on: the model must have what it reads, and must learn it.

WEIGHTS = frozenset({"span_weights", "unit_weights"})
# What a penalty can read of a network's output: in words, and the capabilities of the poolers that give it; none of
# them where every composed model gives it.
READS: dict[str, tuple[str, frozenset[str]]] = {
    "spans": ("span weights", frozenset({"span_weights"})),
    "units": ("weights of units", frozenset({"unit_weights"})),
    "weights": ("weights of spans or units", WEIGHTS),
    "gates": ("the choice of words", frozenset({"rationale"})),
    "states": ("states and word vectors", frozenset()),
}


def fits(penalty: str, pooler: str) -> bool:
    """Whether a model with this pooler has what the penalty reads."""
    capabilities = READS[penalties.get(penalty).facts["reads"]][1]
    return not capabilities or poolers.get(pooler).facts["explains"] in capabilities


def check_fit(weights: Mapping[str, float], pooler: str, pooler_settings: Mapping[str, object]) -> None:
    """Raise `BadSetting` for a penalty on something that the pooler does not have, or does not learn.

    weights: penalty -> weight. A penalty of weight 0 is not computed, so it fits everywhere.
    """
    fixed = weighs_all_alike(pooler_settings)
    for name in (name for name, weight in weights.items() if weight):
        what, capabilities = READS[penalties.get(name).facts["reads"]]
        if not fits(name, pooler):
            raise BadSetting(
                f"The penalty {name} reads {what}, which pooler={pooler!r} does not have; give {_poolers_for(name)}, "
                f"or a penalty that fits it ({_penalties_for(pooler)})."
            )
        if capabilities & WEIGHTS and fixed:
            raise BadSetting(
                f"The penalty {name} would change nothing: weights='uniform' gives every span or unit of a text the "
                f"same weight. Leave the penalty away, or give weights='learned'."
            )


def check_widths(weights: Mapping[str, float], network: EncoderAndHead) -> None:
    """Raise `BadSetting` for a penalty that compares states with word vectors, where these have another width."""
    states, vectors = network.config.hidden_size, network.get_input_embeddings().embedding_dim
    for name in (name for name, weight in weights.items() if weight):
        if penalties.get(name).facts["same_width"] and states != vectors:
            raise BadSetting(
                f"The penalty {name} compares states of {states} numbers with word vectors of {vectors}; give an "
                f"encoder whose states have {vectors}, such as bilstm with width={vectors} and no retention='concat', "
                f"or leave the penalty away."
            )


def weighs_all_alike(pooler_settings: Mapping[str, object]) -> bool:
    """Whether a pooler's weights are equal by design."""
    return pooler_settings.get("weights") == "uniform"


def _poolers_for(penalty: str) -> str:
    return " or ".join(f"pooler={name!r}" for name in poolers.names() if fits(penalty, name))


def _penalties_for(pooler: str) -> str:
    return ", ".join(name for name in penalties.names() if fits(name, pooler))


# Whether an objective has something to act on, and what it asks of the rest of the recipe.

READ_BY_OBJECTIVES = {**READS, "logits": ("answers", frozenset[str]())}


def objective_fits(name: str, pooler: str) -> bool:
    """Whether a model with this pooler has what the objective reads."""
    capabilities = READ_BY_OBJECTIVES[objectives.get(name).facts["reads"]][1]
    return not capabilities or poolers.get(pooler).facts["explains"] in capabilities


def objective_defaults(weights: Mapping[str, float]) -> dict[str, object]:
    """What the recipe begins with for these objectives, unless the user says otherwise.

    Word vectors stay as they are where an objective needs that; what stands in place of the labels has no default
    penalty.
    """
    entries = _wanted(weights)
    defaults: dict[str, object] = {}
    if any(entry.facts["freezes"] for entry in entries):
        defaults["freeze_vectors"] = True
    if any(entry.facts["instead_of_labels"] for entry in entries):
        defaults["penalties"] = {}
    return defaults


def learnt_instead_of_labels(recipe: Recipe) -> bool:
    """Whether an objective stands in place of the labels' cross-entropy."""
    return any(entry.facts["instead_of_labels"] for entry in _wanted(recipe.objectives))


def check_objective_poolers(weights: Mapping[str, float], pooler: str, pooler_settings: Mapping[str, object]) -> None:
    """Raise `BadSetting` for an objective on something that the pooler does not have, or does not learn.

    weights: objective -> weight. An objective of weight 0 is not computed, so it fits everywhere.
    """
    for entry in _wanted(weights):
        what, capabilities = READ_BY_OBJECTIVES[entry.facts["reads"]]
        if not objective_fits(entry.name, pooler):
            fitting = [f"pooler={name!r}" for name in poolers.names() if objective_fits(entry.name, name)]
            raise BadSetting(
                f"The objective {entry.name} reads {what}, which pooler={pooler!r} does not have; give "
                f"{' or '.join(fitting)}."
            )
        if capabilities & WEIGHTS and weighs_all_alike(pooler_settings):
            raise BadSetting(
                f"The objective {entry.name} would change nothing: weights='uniform' gives every span or unit of a "
                f"text the same weight. Leave the objective away, or give weights='learned'."
            )


def check_objectives(recipe: Recipe, plan: Plan) -> None:
    """Raise `BadSetting` for an objective that finds nothing to read, or that the rest of the recipe contradicts."""
    check_objective_poolers(recipe.objectives, plan.pooler, plan.pooler_settings)
    for entry in _wanted(recipe.objectives):
        if entry.facts["freezes"] and not recipe.freeze_vectors:
            raise BadSetting(
                f"The objective {entry.name} needs word vectors that stay as they are; give freeze_vectors=True, or "
                f"leave the objective away."
            )
        needed = entry.facts["pooler_setting"]
        if needed and plan.pooler_settings.get(needed) is None:
            raise BadSetting(
                f"The objective {entry.name} would change nothing without {needed}; give pooler_settings={{{needed!r}: "
                f"2}}, on the command line --pooler-set {needed}=2, or leave the objective away."
            )
        setting = entry.facts["model"]
        if setting and not recipe.objective_settings.get(entry.name, {}).get(setting):
            raise BadSetting(
                f"The objective {entry.name} needs another model; give its folder, "
                f"objective_settings={{{entry.name!r}: {{{setting!r}: 'runs/base'}}}}, on the command line "
                f"--objective-set {entry.name}.{setting}=runs/base."
            )


def check_objective_widths(recipe: Recipe, network: EncoderAndHead) -> None:
    """Raise `BadSetting` for an objective that compares states with word vectors, where these have another width."""
    states, vectors = network.config.hidden_size, network.get_input_embeddings().embedding_dim
    for entry in _wanted(recipe.objectives):
        if entry.facts["same_width"] and states != vectors:
            raise BadSetting(
                f"The objective {entry.name} compares states of {states} numbers with word vectors of {vectors}; give "
                f"an encoder whose states have {vectors}, such as bilstm with width={vectors} and no "
                f"retention='concat', or leave the objective away."
            )


def _wanted(weights: Mapping[str, float]) -> list[Entry]:
    return [objectives.get(name) for name, weight in weights.items() if weight]
