"""A lens of a tiny model, small enough for tests."""

from functools import cache
from pathlib import Path

from pellucid.base.processes import silent
from pellucid.data.load import load_examples
from pellucid.layers.lens_stage import LensRecipe
from pellucid.layers.train_lens import train_lens
from pellucid.models.language_heads.lens import CLASSIFIER
from tests.shared.tiny import tiny_classifier

STEPS = {"head_steps": 6, "translator_steps": 4}


@cache
def lens_parts():
    """Some texts of the pocket corpus: 24 to train on, 6 to judge by."""
    return {"train": load_examples("pocket", "train")[:24], "dev": load_examples("pocket", "dev")[:6]}


def lens_recipe(**changes):
    """Ten steps in two stages, a checkpoint after every second."""
    small = {**STEPS, "batch_size": 8, "pieces_a_step": 32, "checkpoint_every": 2, "learning_rate": 5e-3}
    return LensRecipe(**{**small, **changes})


def trained_lens(folder, progress=silent, *, model=None, parts=None, trained_on=CLASSIFIER, **changes):
    """The lens of a training in a folder."""
    return train_lens(
        model or tiny_classifier(),
        parts or lens_parts(),
        lens_recipe(**changes),
        Path(folder),
        trained_on,
        progress=progress,
    )
