"""The two models that paraphrase texts for an attack, from what the user named."""

from collections.abc import Sequence

from pellucid.api.inputs.data import ModelSource
from pellucid.api.inputs.translators import translator_from
from pellucid.core.foundation.call_syntax import in_syntax
from pellucid.core.foundation.checks import whole
from pellucid.core.foundation.errors import BadSetting
from pellucid.models.writing.model_pivot import ModelPivot

MOST_TRANSLATIONS = 32


def model_pivot(translators: Sequence[ModelSource] | None, n_best: int) -> ModelPivot | None:
    """The models that translate there and back; None without any. Raises `BadSetting` for another number than two, `ModelCannot` for a
    model that does not translate.
    """
    whole("n_best", n_best, 1, MOST_TRANSLATIONS)
    if translators is None:
        return None
    if isinstance(translators, str) or len(translators) != 2:
        raise BadSetting(
            f"{in_syntax('translators=', '--translators')} needs two models: one that translates, and one that translates back."
        )
    models = [translator_from(one) for one in translators]
    return ModelPivot(models[0], models[1], n_best)
