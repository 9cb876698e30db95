"""Texts as a model with attention over units reads them: weights and unit logits, from one forward pass.

The head is linear and the weights sum to 1, so the logits under any other weights are the weighted sum of the unit logits.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from pellucid.core.foundation.errors import ModelCannot
from pellucid.core.passes.batch import Row
from pellucid.core.passes.model import Model
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.text.example import Example


@dataclass(frozen=True, eq=False)
class WeighedText:
    """One text. weights: [unit], 0 or more, their sum is 1. unit_logits: [unit class]. label: its class, or None.

    Both are in double precision. row: its pieces, which seed random draws.
    """

    weights: Tensor
    unit_logits: Tensor
    label: int | None
    row: Row

    def __len__(self) -> int:
        return len(self.weights)

    def logits(self, weights: Tensor) -> Tensor:
        """[draw unit] -> [draw class]: what the model answers with these weights in place of its own."""
        return weights.to(self.unit_logits) @ self.unit_logits


def weighed_texts(model: Model, examples: Sequence[Example]) -> list[WeighedText]:
    """The texts in their order, by one forward pass; raises `ModelCannot` for a model without weights of units.

    Windows of a text that is too long are not joined: such texts are refused too.
    """
    if "unit_weights" not in model.capabilities:
        raise ModelCannot(
            f"{model.name} has no weights of units, which tests of attention change; train a model with pooler='additive' or "
            "pooler='dot', or judge methods with compare."
        )
    rows = model.encode(examples).rows
    if any(row.windows for row in rows):
        raise ModelCannot(
            f"{model.name} reads some texts in windows, which have weights of their own; give shorter texts."
        )
    texts: dict[int, WeighedText] = {}
    for pack in scheduler_for(model).packs_of(rows):
        units = model.trace([rows[index] for index in pack]).units
        assert units is not None  # the capability was checked
        for index, runs, weights, logits in zip(pack, units.runs, units.weights, units.logits, strict=True):
            real = runs >= 0
            label = examples[index].label
            texts[index] = WeighedText(
                weights[real].detach().double().cpu(),
                logits[real].detach().double().cpu(),
                model.labels.index(label) if label in model.labels else None,
                rows[index],
            )
    return [texts[index] for index in range(len(rows))]


def right_answers(text: WeighedText, weights: Tensor) -> Tensor:
    """[draw unit] -> [draw]: 1 where the answer with these weights is the label, else 0; nan without a label."""
    if text.label is None:
        return torch.full((len(weights),), torch.nan, dtype=torch.float64)
    return (text.logits(weights).argmax(-1) == text.label).double()


def fall_of_right_answers(text: WeighedText, weights: Tensor) -> Tensor:
    """[draw unit] -> [draw]: right with the model's own weights less right with these; -1, 0 or 1, nan without a label."""
    return right_answers(text, text.weights[None]) - right_answers(text, weights)
