"""One of the two stages of a lens: steps over rows with a checkpoint; a killed stage goes on and ends with the same
bytes.

No draw comes from the process's random state, so trainings of lenses may run beside each other. The checkpoint is that
of a classifier's training with one epoch; there is no better epoch to choose, since the learning rate falls to 0 in it.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from math import isfinite
from pathlib import Path
from typing import TypedDict

import torch
from torch import nn

from pellucid.base.checks import between, of_kind
from pellucid.base.errors import BadSetting
from pellucid.base.processes import Progress
from pellucid.run.batch import Row
from pellucid.run.blank import HIGHEST_SEED
from pellucid.training.checkpoint import TrainingState, load_checkpoint, save_checkpoint
from pellucid.training.steps import epoch_batches, rate_share

# How a lens is trained: every number that changes it, in one frozen record.

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


WARMUP, CLIP = 0.1, 1.0


@dataclass(frozen=True)
class Stage:
    """What is trained, and how.

    name: what progress calls it. network: its parameters are trained. steps: how many. backward: (rows of a step, how
    often they were read before) -> the mean loss, whose gradients it has added. judge: the accuracy and the loss on
    dev. checkpoint: the file that an interrupted stage goes on from. fingerprint: names run and stage.
    """

    name: str
    network: nn.Module
    steps: int
    backward: Callable[[list[Row], int], float]
    judge: Callable[[], tuple[float, float]]
    checkpoint: Path
    fingerprint: str


def train_stage(stage: Stage, rows: Sequence[Row], recipe: LensRecipe, progress: Progress) -> TrainingState:
    """Make the steps that are left; the network is trained in place. Returns the state at the end, which is on disk
    too.
    """
    optimizer = torch.optim.AdamW(stage.network.parameters(), lr=recipe.learning_rate, weight_decay=0.0)
    state = _starting_state(stage, optimizer)
    batches = _batches(rows, recipe)
    while state.epoch == 0 and state.step < stage.steps:
        _set_rate(optimizer, recipe.learning_rate * rate_share(state.step, stage.steps, WARMUP))
        optimizer.zero_grad()
        loss = stage.backward(*batches(state.step))
        if not isfinite(loss):
            raise BadSetting(
                f"{stage.name.capitalize()} diverged at step {state.step + 1}; give less than "
                f"learning_rate={recipe.learning_rate}."
            )
        nn.utils.clip_grad_norm_(stage.network.parameters(), CLIP)
        optimizer.step()
        state.loss_sum += loss
        state.step += 1
        progress(stage.name, state.step, stage.steps)
        if state.step % recipe.checkpoint_every == 0 and state.step < stage.steps:
            save_checkpoint(stage.checkpoint, stage.network, optimizer, state)
    if state.epoch == 0:
        _finish(stage, state)
        save_checkpoint(stage.checkpoint, stage.network, optimizer, state)
    return state


def _starting_state(stage: Stage, optimizer: torch.optim.Optimizer) -> TrainingState:
    """The checkpoint's state, with weights and optimizer restored; a fresh one where there is no checkpoint."""
    if not stage.checkpoint.exists():
        return TrainingState(stage.fingerprint)
    return load_checkpoint(
        stage.checkpoint,
        stage.network,
        optimizer,
        fingerprint=stage.fingerprint,
        epochs=1,
        steps=stage.steps,
        draws=False,
    )


def _finish(stage: Stage, state: TrainingState) -> None:
    accuracy, loss = stage.judge()
    numbers = {"train_loss": state.loss_sum / stage.steps, "dev_accuracy": accuracy, "dev_loss": loss}
    state.history.append({"epoch": 0, **numbers})
    state.epoch, state.step, state.loss_sum, state.best = 1, 0, 0.0, 0


def _set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate


def _batches(rows: Sequence[Row], recipe: LensRecipe) -> Callable[[int], tuple[list[Row], int]]:
    """A function from a step to its rows, and how often they were read before; each reading has an order of its own."""
    lengths = [len(row) for row in rows]
    a_reading = -(-len(rows) // recipe.batch_size)

    @lru_cache(maxsize=1)
    def of_reading(reading: int) -> list[list[int]]:
        return epoch_batches(lengths, recipe.batch_size, recipe.seed, reading)

    def of_step(step: int) -> tuple[list[Row], int]:
        reading, batch_index = divmod(step, a_reading)
        return [rows[index] for index in of_reading(reading)[batch_index]], reading

    return of_step
