"""The model whose states a lens reads: a classifier, or an encoder before it is fine-tuned."""

from pathlib import PurePath

from pellucid.api.inputs.data import ModelSource
from pellucid.api.inputs.loading import load
from pellucid.api.inputs.models import model_from
from pellucid.core.foundation.checks import one_of
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.passes.model import Model
from pellucid.models.composed.encoder_model import encoder_model, is_encoder
from pellucid.models.language_heads.lens_record import CLASSIFIER, ENCODER
from pellucid.models.load import on_device

ON = ("encoder", "classifier")


def model_with_states(source: ModelSource, on: str | None, device: str | None) -> tuple[Model, str]:
    """The model, and what a lens of it says that it was trained on.

    on: "encoder", "classifier", or None for what the source plainly is. device: of what is loaded here. Raises `BadSetting`
    where these do not go together.
    """
    if on is not None:
        one_of("on", on, ON)
    if not isinstance(source, str | PurePath):
        if on == "encoder":
            raise BadSetting(
                "The encoder before fine-tuning is loaded by its name or folder; give that as the model."
            )
        if device is not None:
            raise BadSetting("A model in memory is used as it is; move it first, and leave device= away.")
        return model_from(source), CLASSIFIER
    name = source if isinstance(source, str) else str(source)
    if on == "encoder" or (on is None and is_encoder(name)):
        return on_device(encoder_model(name), device or "cpu"), ENCODER
    if is_encoder(name):
        raise BadSetting(
            f"{name} is an encoder and no classifier; leave on='classifier' (--on classifier) away."
        )
    return model_from(load(name, device=device)), CLASSIFIER
