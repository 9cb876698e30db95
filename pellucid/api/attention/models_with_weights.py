"""The models of an attention analysis, by name."""

from collections.abc import Mapping, Sequence
from typing import Any

from pellucid.api.attention.weighing import check_weights
from pellucid.api.inputs import model_from
from pellucid.api.inputs.data import ModelSource
from pellucid.api.inputs.model_names import distinct_names
from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.wording import listed
from pellucid.core.passes.model import Model


def models_with_weights(
    model: ModelSource, against: Sequence[ModelSource] | Mapping[str, ModelSource]
) -> dict[str, tuple[ModelSource, Model]]:
    """Name -> (what it was given as, the model), the one in question first; raises `ModelCannot` for one without weights, `BadInput` for other classes."""
    others = list(against.values()) if isinstance(against, Mapping) else _several(against)
    loaded = [model_from(one) for one in (model, *others)]
    for one in loaded:
        check_weights(one)
        if sorted(one.labels) != sorted(loaded[0].labels):
            raise BadInput(
                f"{one.name} has the classes {listed(one.labels)}, and {loaded[0].name} has {listed(loaded[0].labels)}; compare models "
                "of the same classes."
            )
    if isinstance(against, Mapping):
        own = loaded[0].name
        names = [own if own not in against else f"{own} (1)", *map(str, against)]
    else:
        names = distinct_names(loaded)
    return dict(zip(names, zip((model, *others), loaded, strict=True), strict=True))


def _several(against: Any) -> list[ModelSource]:  # Any: a caller may give one model in place of a list
    return list(against) if isinstance(against, list | tuple) else [against]
