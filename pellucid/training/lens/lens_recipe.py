"""How a lens is trained: every number that changes it, in one frozen record."""

from dataclasses import asdict, dataclass
from typing import TypedDict

from pellucid.core.foundation.checks import between, of_kind
from pellucid.core.passes.seeds import HIGHEST_SEED

COUNTS = ("head_steps", "translator_steps", "batch_size", "pieces_a_step", "dev_rows", "checkpoint_every")
MOST = 10**9  # of each count


class LensRecipeChanges(TypedDict, total=False):
    """Fields of a `LensRecipe` that differ from their defaults."""

    head_steps: int
    translator_steps: int
    batch_size: int
    sequence_length: int
    pieces_a_step: int
    mask_share: float
    learning_rate: float
    dev_rows: int
    seed: int
    checkpoint_every: int


@dataclass(frozen=True)
class LensRecipe:
    """Settings of one lens.

    head_steps, translator_steps: steps that train the head, and then the translators; 1 or more.
    batch_size: texts, or parts of long ones, a step.
    sequence_length: the most pieces of a part, 8 or more; longer texts are cut between words.
    pieces_a_step: at most so many pieces a step teach the translators.
    mask_share: the share of a text's pieces that the head has to guess, 0.01 to 0.5.
    learning_rate: the highest of AdamW, above 0; it rises in a line for a tenth of the steps and then falls to 0.
    dev_rows: at most so many dev texts, or parts of long ones, are read for the table.
    seed: of the head's first weights, the order of texts, and masks.
    checkpoint_every: steps between checkpoints.

    Raises `BadSetting` for a value out of its range.
    """

    head_steps: int = 1500
    translator_steps: int = 600
    batch_size: int = 16
    sequence_length: int = 128
    pieces_a_step: int = 256
    mask_share: float = 0.15
    learning_rate: float = 1e-3
    dev_rows: int = 64
    seed: int = 0
    checkpoint_every: int = 200

    def __post_init__(self) -> None:
        for name in COUNTS:
            between(name, of_kind(name, getattr(self, name), int), 1, MOST)
        between("sequence_length", of_kind("sequence_length", self.sequence_length, int), 8, MOST)
        between("seed", of_kind("seed", self.seed, int), 0, HIGHEST_SEED)
        between("mask_share", self.mask_share, 0.01, 0.5)
        between("learning_rate", self.learning_rate, 1e-9, 1.0)

    def record(self) -> dict[str, object]:
        """Every field by its name."""
        return asdict(self)
