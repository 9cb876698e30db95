"""How a classifier is trained where the caller does not say."""

from collections.abc import Mapping
from typing import Any

from pellucid.core.foundation.checks import known
from pellucid.core.foundation.kinds import encoders
from pellucid.training.penalty_fit import weighs_all_alike
from pellucid.training.recipe import Recipe

# Tried on the dev parts of SST-2, SST-5 and pocket. The gradient of the paper's penalty vanishes while the weights are
# spread and grows as they gather, so that its lambda does nothing or everything, and which of both hangs on the number of
# steps; that of the entropy (the paper's footnote 2) does not. studies/sst2_twins shows what sharpness costs.
SPAN_RECIPE: dict[str, Any] = {"penalties": {"entropy": 0.1}}


def recipe_of(
    pooler: str,
    seed: int,
    penalties: Mapping[str, float] | None,
    encoder: str = "minilm",
    pooler_settings: Mapping[str, Any] | None = None,
    **recipe: Any,
) -> Recipe:
    """The recipe of a call of `train`; raises `UnknownName` for a setting that is none."""
    for name in recipe:
        known("setting of training", name, Recipe.__dataclass_fields__)
    default = SPAN_RECIPE if pooler == "span" and not weighs_all_alike(pooler_settings or {}) else {}
    if encoder in encoders.names():  # all its parts are new, and learn alike
        default = {
            **default,
            "learning_rate": encoders.get(encoder).facts["learning_rate"],
            "new_parts_factor": 1.0,
        }
    chosen = {} if penalties is None else {"penalties": dict(penalties)}
    return Recipe(**{**default, **chosen, **recipe, "seed": seed})
