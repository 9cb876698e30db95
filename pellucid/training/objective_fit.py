"""Whether an objective has something to act on, and what it asks of the rest of the recipe."""

from collections.abc import Mapping

from pellucid.base.entry import Entry
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import objectives, poolers
from pellucid.models.composed.plan import Plan
from pellucid.models.composed.rationale_network import EncoderAndHead
from pellucid.training.objective import READS as READ_BY_PENALTIES
from pellucid.training.objective import WEIGHTS, weighs_all_alike
from pellucid.training.recipe import Recipe

READS = {**READ_BY_PENALTIES, "logits": ("answers", frozenset[str]())}


def objective_fits(name: str, pooler: str) -> bool:
    """Whether a model with this pooler has what the objective reads."""
    capabilities = READS[objectives.get(name).facts["reads"]][1]
    return not capabilities or poolers.get(pooler).facts["explains"] in capabilities


def objective_defaults(weights: Mapping[str, float]) -> dict[str, object]:
    """What the recipe begins with for these objectives, unless the user says otherwise.

    Word vectors stay as they are where an objective needs that; what stands in place of the labels has no default penalty.
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


def check_objective_poolers(
    weights: Mapping[str, float], pooler: str, pooler_settings: Mapping[str, object]
) -> None:
    """Raise `BadSetting` for an objective on something that the pooler does not have, or does not learn.

    weights: objective -> weight. An objective of weight 0 is not computed, so it fits everywhere.
    """
    for entry in _wanted(weights):
        what, capabilities = READS[entry.facts["reads"]]
        if not objective_fits(entry.name, pooler):
            fitting = [f"pooler={name!r}" for name in poolers.names() if objective_fits(entry.name, name)]
            raise BadSetting(
                f"The objective {entry.name} reads {what}, which pooler={pooler!r} does not have; give {' or '.join(fitting)}."
            )
        if capabilities & WEIGHTS and weighs_all_alike(pooler_settings):
            raise BadSetting(
                f"The objective {entry.name} would change nothing: weights='uniform' gives every span or unit of a text the "
                "same weight. Leave the objective away, or give weights='learned'."
            )


def check_objectives(recipe: Recipe, plan: Plan) -> None:
    """Raise `BadSetting` for an objective that finds nothing to read, or that the rest of the recipe contradicts."""
    check_objective_poolers(recipe.objectives, plan.pooler, plan.pooler_settings)
    for entry in _wanted(recipe.objectives):
        if entry.facts["freezes"] and not recipe.freeze_vectors:
            raise BadSetting(
                f"The objective {entry.name} needs word vectors that stay as they are; give freeze_vectors=True, or leave the "
                "objective away."
            )
        needed = entry.facts["pooler_setting"]
        if needed and plan.pooler_settings.get(needed) is None:
            raise BadSetting(
                f"The objective {entry.name} would change nothing without {needed}; give pooler_settings={{{needed!r}: 2}}, on the command "
                f"line --pooler-set {needed}=2, or leave the objective away."
            )
        setting = entry.facts["model"]
        if setting and not recipe.objective_settings.get(entry.name, {}).get(setting):
            raise BadSetting(
                f"The objective {entry.name} needs another model; give its folder, "
                f"objective_settings={{{entry.name!r}: {{{setting!r}: 'runs/base'}}}}, on the command line --objective-set "
                f"{entry.name}.{setting}=runs/base."
            )


def check_objective_widths(recipe: Recipe, network: EncoderAndHead) -> None:
    """Raise `BadSetting` for an objective that compares states with word vectors, where these have another width."""
    states, vectors = network.config.hidden_size, network.get_input_embeddings().embedding_dim
    for entry in _wanted(recipe.objectives):
        if entry.facts["same_width"] and states != vectors:
            raise BadSetting(
                f"The objective {entry.name} compares states of {states} numbers with word vectors of {vectors}; give an "
                f"encoder whose states have {vectors}, such as bilstm with width={vectors} and no retention='concat', or "
                "leave the objective away."
            )


def _wanted(weights: Mapping[str, float]) -> list[Entry]:
    return [objectives.get(name) for name, weight in weights.items() if weight]
