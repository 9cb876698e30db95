"""Translators from what the user gave: a model, a folder or a hub name."""

from pellucid.api.inputs.data import ModelSource
from pellucid.api.inputs.models import any_model_from
from pellucid.core.foundation.errors import ModelCannot
from pellucid.models.writing.writing_model import WritingModel


def translator_from(model: ModelSource) -> WritingModel:
    """The translator that came, or of that folder or hub name; raises `ModelCannot` for a model that does not translate."""
    translator = any_model_from(model)
    if not isinstance(translator, WritingModel):
        raise ModelCannot(f"{translator.name} is a classifier and translates nothing; give a translator.")
    if not translator.has_encoder:
        raise ModelCannot(f"{translator.name} continues texts and does not translate; use `write`.")
    return translator
