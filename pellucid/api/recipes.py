"""The recipe of a training, with the defaults for its pooler and encoder."""

from collections.abc import Mapping
from typing import Any

from pellucid.core.foundation.checks import known, mapping
from pellucid.core.foundation.kinds import encoders
from pellucid.training.objective_fit import objective_defaults
from pellucid.training.penalty_fit import weighs_all_alike
from pellucid.training.recipe import Recipe

# Tried on the dev parts of SST-2, SST-5 and pocket. The gradient of the paper's penalty vanishes while the weights are
# spread and grows as they gather. So its lambda does nothing or everything, and which of both depends on the number of
# steps. The gradient of the entropy (the paper's footnote 2) does not. studies/sst2_twins shows what sharpness costs.
SPAN_RECIPE: dict[str, Any] = {"penalties": {"entropy": 0.1}}


def recipe_of(
    pooler: str,
    seed: int,
    penalties: Mapping[str, float] | None,
    encoder: str = "minilm",
    pooler_settings: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Recipe:
    """The recipe of a call of `train`.

    pooler, encoder, pooler_settings: what the defaults depend on. seed: the recipe's. penalties: name -> weight; None for
    the pooler's default. settings: other fields of `Recipe`. Raises `UnknownName` for a field that does not exist.
    """
    for name in settings:
        known("setting of training", name, Recipe.__dataclass_fields__)
    default = SPAN_RECIPE if pooler == "span" and not weighs_all_alike(pooler_settings or {}) else {}
    if encoder in encoders.names():  # all its parts are new, and learn at one rate
        default = {
            **default,
            "learning_rate": encoders.get(encoder).facts["learning_rate"],
            "new_parts_factor": 1.0,
        }
    default = {**default, **objective_defaults(mapping("objectives", settings.get("objectives") or {}))}
    own = {} if penalties is None else {"penalties": dict(penalties)}
    return Recipe(**{**default, **own, **settings, "seed": seed})
