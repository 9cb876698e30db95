"""Weights that a user gives for texts, checked against the units of a model."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch

from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.wording import quoted
from pellucid.core.text.example import Example
from pellucid.core.text.units import Spans
from pellucid.evaluation.shared.weighed_texts import WeighedText

UserWeights = Mapping[str, Sequence[float]]  # the text's id -> a weight for each unit, or each part of spans
ROUNDED = 1e-3  # how far from 1 a sum of written numbers may be


def check_user_weights(by_text: UserWeights, examples: Sequence[Example]) -> None:
    """Raise `BadInput` for weights that are negative or do not sum to 1, or where no text has any."""
    for name, weights in by_text.items():
        if any(not math.isfinite(value) for value in weights):
            raise BadInput(
                f"The weights of text {quoted(name)} are not all numbers; give one number for each unit."
            )
        if negative := [value for value in weights if value < 0]:
            raise BadInput(
                f"Text {quoted(name)} has a negative weight, {negative[0]:g}; give weights of 0 or more."
            )
        if abs(sum(weights) - 1) > ROUNDED:
            raise BadInput(
                f"The weights of text {quoted(name)} sum to {sum(weights):.4g}; give weights whose sum is 1."
            )
    if by_text and not any(example.id in by_text for example in examples):
        raise BadInput(
            f"Weights came for texts such as {quoted(next(iter(by_text)))}, and none of them is among the texts, which begin with "
            f"{quoted(examples[0].id)}; give the ids of the texts."
        )


def with_user_weights(
    texts: Sequence[WeighedText], examples: Sequence[Example], by_text: UserWeights
) -> list[WeighedText]:
    """The texts with the weights that were given for them; raises `BadInput` where a text has another number of units."""
    pairs = zip(texts, examples, strict=True)
    return [
        replace(text, user_weights=_of_text(text, str(example.id), by_text[str(example.id)]))
        if example.id in by_text
        else text
        for text, example in pairs
    ]


def _of_text(text: WeighedText, name: str, weights: Sequence[float]) -> torch.Tensor:
    """[unit]: the given weights, in windows shared equally among the places of a unit."""
    units, numbers = text.units, text.numbers
    assert units is not None and numbers is not None  # it was read from a model
    parts = units.parts if isinstance(units, Spans) else units
    if len(weights) != len(parts.content):
        raise BadInput(
            f"Text {quoted(name)} has {len(parts.content)} {parts.kind}s, and {len(weights)} weights came for it; give one for each."
        )
    whole = np.zeros(len(units))
    if isinstance(units, Spans):
        alone = np.flatnonzero(units.first == units.last)
        of_part = dict(zip(units.first[alone].tolist(), alone.tolist(), strict=True))
        for part, weight in zip(parts.content, weights, strict=True):
            if part not in of_part and weight > 0:
                raise BadInput(
                    f"Text {quoted(name)} has no span of {quoted(parts.labels[part])} alone, which a weight came for; give it 0."
                )
            if part in of_part:
                whole[of_part[part]] = weight
    else:
        whole[list(units.content)] = weights
    places = np.bincount(numbers, minlength=len(units))
    shared = whole[numbers] / places[numbers]
    return torch.from_numpy(shared / shared.sum())
