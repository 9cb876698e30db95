"""A copy of a classifier whose network can be changed; the original stays as it was."""

from copy import deepcopy
from dataclasses import replace

from pellucid.core.foundation.errors import ModelCannot
from pellucid.core.passes.model import Model
from pellucid.models.classifiers.classifier import Classifier


def network_copy(model: Model, purpose: str) -> Classifier:
    """The classifier with a network of its own. purpose: ends the message for a model that has no network to copy."""
    if not isinstance(model, Classifier):
        raise ModelCannot(f"{model.name} is a function of texts; it has no weights {purpose}.")
    return replace(model, network=deepcopy(model.network))
