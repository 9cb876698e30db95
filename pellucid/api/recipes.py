"""How a classifier is trained where the caller does not say."""

from collections.abc import Mapping
from typing import Any

from pellucid.core.checks import known
from pellucid.core.kinds import encoders
from pellucid.training.recipe import Recipe

# Tried on the dev parts of SST-2 and pocket, one seed each. The paper's weight of concentration makes the weights sharp,
# which the explanation lives on; studies/sst2_twins shows what that costs in accuracy.
SPAN_RECIPE: dict[str, Any] = {"new_parts_factor": 2.0, "penalties": {"concentration": 1.0}}


def recipe_of(
    pooler: str, seed: int, penalties: Mapping[str, float] | None, encoder: str = "minilm", **recipe: Any
) -> Recipe:
    """The recipe of a call of `train`; raises `UnknownName` for a setting that is none."""
    for name in recipe:
        known("setting of training", name, Recipe.__dataclass_fields__)
    default = SPAN_RECIPE if pooler == "span" else {}
    if encoder in encoders.names():  # all its parts are new, and learn alike
        default = {
            **default,
            "learning_rate": encoders.get(encoder).facts["learning_rate"],
            "new_parts_factor": 1.0,
        }
    chosen = {} if penalties is None else {"penalties": dict(penalties)}
    return Recipe(**{**default, **chosen, **recipe, "seed": seed})
