"""What users have becomes what every door works on: data become examples, and what is loaded, fitted or saved a model."""

from pellucid.api.inputs.examples import examples_for, examples_from
from pellucid.api.inputs.models import any_model_from, model_from
from pellucid.base.notices import InputReading, UnmatchedLabels

__all__ = ["InputReading", "UnmatchedLabels", "any_model_from", "examples_for", "examples_from", "model_from"]
