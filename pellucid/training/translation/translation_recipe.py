"""How a translator is trained: every number that changes it, in one frozen record."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TypedDict

import torch

from pellucid.core.foundation.checks import at_least, between, mapping, of_kind, one_of
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.kinds import penalties
from pellucid.core.passes.seeds import HIGHEST_SEED
from pellucid.training.recipe import Precision, computes_in

COUNTS = ("epochs", "batch_pieces", "warmup_steps", "averaged", "checkpoint_every")
FITTING = ("concentration", "entropy")  # penalties that read one weight a span and step
MOST = 10**9  # of each count


class TranslationRecipeChanges(TypedDict, total=False):
    """Fields of a `TranslationRecipe` that differ from their defaults."""

    epochs: int
    batch_pieces: int
    learning_rate: float
    warmup_steps: int
    label_smoothing: float
    clip: float
    penalties: Mapping[str, float]
    averaged: int
    precision: Precision
    seed: int
    checkpoint_every: int


@dataclass(frozen=True)
class TranslationRecipe:
    """Settings of one training of a translator.

    epochs: passes over the train pairs, 1 or more.
    batch_pieces: the most pieces a step, padding counted, of the longer of both languages.
    learning_rate: the highest of Adam, above 0 to 1; it rises in a line for `warmup_steps` steps, then falls with the inverse
        square root of the step.
    label_smoothing: the share of each piece that is spread over all pieces, 0 to below 1.
    clip: the largest norm of a step's gradient; 0 for no limit.
    penalties: "concentration" or "entropy" -> weight, 0 or more; the mean over written pieces is added to the loss.
    averaged: the weights at the ends of so many epochs, up to the one with the lowest loss on dev, make the model: their mean.
    precision: "float32", "bfloat16", or "auto" for bfloat16 where the processor has it.
    seed: of first weights, the order of pairs, and dropout.
    checkpoint_every: steps between checkpoints; there is one at the end of each epoch too.

    Raises `BadSetting` for a value out of its range, `UnknownName` for a penalty that does not exist.
    """

    epochs: int = 10
    batch_pieces: int = 2000
    learning_rate: float = 2e-3
    warmup_steps: int = 400
    label_smoothing: float = 0.1
    clip: float = 1.0
    penalties: Mapping[str, float] = field(default_factory=dict)
    averaged: int = 3
    precision: Precision = "auto"
    seed: int = 0
    checkpoint_every: int = 200

    def __post_init__(self) -> None:
        for name in COUNTS:
            between(name, of_kind(name, getattr(self, name), int), 1, MOST)
        between("seed", of_kind("seed", self.seed, int), 0, HIGHEST_SEED)
        between("learning_rate", self.learning_rate, 1e-9, 1.0)
        between("label_smoothing", self.label_smoothing, 0, 0.99)
        at_least("clip", self.clip, 0)
        one_of("precision", self.precision, ("auto", "float32", "bfloat16"))
        for name, weight in mapping("penalties", self.penalties).items():
            penalties.get(name)
            if name not in FITTING:
                raise BadSetting(
                    f"The penalty {name} does not fit a translator; give {' or '.join(FITTING)}."
                )
            at_least(f"weight of {name}", weight, 0)

    def record(self) -> dict[str, object]:
        """Every field by its name; penalties of weight 0 change nothing and are left out."""
        return asdict(self) | {
            "penalties": {name: weight for name, weight in self.penalties.items() if weight}
        }

    def rate(self, done: int) -> float:
        """The learning rate after so many steps."""
        step = done + 1
        return self.learning_rate * min(step / self.warmup_steps, (self.warmup_steps / step) ** 0.5)

    def autocast(self, device: torch.device) -> torch.autocast:
        """The context that the forward pass of training runs in."""
        enabled = computes_in(self.precision, device) == "bfloat16"
        return torch.autocast(device.type, dtype=torch.bfloat16, enabled=enabled)
