"""Twins: further trainings of a model, with the same classes and pieces."""

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from pellucid.api.inputs import model_from
from pellucid.api.inputs.data import ModelSource
from pellucid.api.inputs.model_names import distinct_names
from pellucid.api.inputs.models import is_model
from pellucid.core.explaining.explaining import Request
from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.wording import listed
from pellucid.core.passes.model import Model, lacking
from pellucid.core.text.example import Example


def twins_of(request: Request, twins: Any, examples: Sequence[Example]) -> dict[str, Model]:
    """Name -> twin; raises `BadInput` for one with other classes, another tokenizer, or without what a method needs.

    twins: what `compare` got: a list of models, folders or names, or one of them.
    """
    models = [model_from(one) for one in _several(twins)]
    for twin in models:
        _check_twin(request, twin, examples)
    return dict(zip(distinct_names(models), models, strict=True))


def _several(twins: Any) -> list[ModelSource]:
    is_one = isinstance(twins, str | PurePath) or is_model(twins) or not isinstance(twins, list | tuple)
    return [twins] if is_one else list(twins)


def _check_twin(request: Request, twin: Model, examples: Sequence[Example]) -> None:
    model = request.model
    if sorted(twin.labels) != sorted(model.labels):
        raise BadInput(
            f"{twin.name} has the classes {listed(twin.labels)}, and {model.name} has {listed(model.labels)}; give twins of "
            "the same classes: trainings of the same model with another seed."
        )
    pairs = zip(model.encode(examples).rows, twin.encode(examples).rows, strict=True)
    if any(one.ids != other.ids for one, other in pairs):
        raise BadInput(
            f"{twin.name} cuts texts into other pieces than {model.name}; give twins with the same tokenizer: trainings of the "
            "same model with another seed."
        )
    for call in request.calls:
        if lacks := lacking(twin, call.entry.facts["needs"]):
            raise BadInput(
                f"{call.entry.name} does not work with {twin.name}, which {lacks}; give twins of the same kind as {model.name}."
            )
