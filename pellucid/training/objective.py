"""An objective: what a training learns besides the labels, or instead of them, with a pass or a model of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from pellucid.base.errors import BadSetting
from pellucid.base.kinds import objectives, penalties, poolers
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.output import Output
from pellucid.models.composed.rationale_network import EncoderAndHead
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

    indices: their numbers among the train texts. output: what the network answered to them, with a graph. done: how many
    steps were made before.
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
    """Objectives with their weights, None for all of the recipe; those of weight 0 are not made, so they ask for nothing."""
    recipe = context.recipe
    entries = [
        (float(weight), objectives.get(name))
        for name, weight in (recipe.objectives if weights is None else weights).items()
        if weight
    ]
    settings = recipe.objective_settings
    return [
        (weight, entry.make(context, **entry.settings(dict(settings.get(entry.name, {})))))
        for weight, entry in entries
    ]


# Whether a penalty has something to act on: the model must have what it reads, and must learn it.


WEIGHTS = frozenset({"span_weights", "unit_weights"})
# What a penalty can read of a network's output: in words, and the capabilities of the poolers that give it; none of them
# where every composed model gives it.
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
                f"The penalty {name} reads {what}, which pooler={pooler!r} does not have; give {_poolers_for(name)}, or a "
                f"penalty that fits it ({_penalties_for(pooler)})."
            )
        if capabilities & WEIGHTS and fixed:
            raise BadSetting(
                f"The penalty {name} would change nothing: weights='uniform' gives every span or unit of a text the same "
                "weight. Leave the penalty away, or give weights='learned'."
            )


def check_widths(weights: Mapping[str, float], network: EncoderAndHead) -> None:
    """Raise `BadSetting` for a penalty that compares states with word vectors, where these have another width."""
    states, vectors = network.config.hidden_size, network.get_input_embeddings().embedding_dim
    for name in (name for name, weight in weights.items() if weight):
        if penalties.get(name).facts["same_width"] and states != vectors:
            raise BadSetting(
                f"The penalty {name} compares states of {states} numbers with word vectors of {vectors}; give an encoder "
                f"whose states have {vectors}, such as bilstm with width={vectors} and no retention='concat', or leave the "
                "penalty away."
            )


def weighs_all_alike(pooler_settings: Mapping[str, object]) -> bool:
    """Whether a pooler's weights are equal by design."""
    return pooler_settings.get("weights") == "uniform"


def _poolers_for(penalty: str) -> str:
    return " or ".join(f"pooler={name!r}" for name in poolers.names() if fits(penalty, name))


def _penalties_for(pooler: str) -> str:
    return ", ".join(name for name in penalties.names() if fits(name, pooler))
