"""A tiny encoder on disk and a training small enough for tests."""

from pathlib import Path

from transformers import AutoModel

from pellucid.base.processes import silent
from pellucid.data.load import load_examples
from pellucid.models.composed.networks import Plan
from pellucid.training.recipe import Recipe
from pellucid.training.train import train_model
from tests.shared.tiny import tiny_network, word_piece

LABELS = ("negative", "neutral", "positive")


def save_encoder(folder: Path) -> Path:
    """An encoder as `compose` reads it."""
    AutoModel.from_config(tiny_network("bert").config).save_pretrained(folder)
    tokenizer = word_piece()
    tokenizer.backend_tokenizer.no_truncation()  # which a call before may have left, and its file would have
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.save_pretrained(folder)
    return folder


def parts():
    """Some texts of the pocket corpus: 32 to train on, 12 to choose by."""
    return {"train": load_examples("pocket", "train")[:32], "dev": load_examples("pocket", "dev")[:12]}


def recipe(**changes):
    """Twelve steps in three epochs, a checkpoint after every third."""
    settings = {
        "epochs": 3,
        "batch_size": 8,
        "learning_rate": 1e-3,
        "precision": "float32",
        "checkpoint_every": 3,
    }
    return Recipe(**{**settings, "penalties": {"concentration": 1.0}, **changes})


def trained(encoder, folder, progress=silent, *, data=None, pooler="span", pooler_settings=None, watch=None, **changes):
    """The model of a training run in a folder."""
    if pooler != "span":
        changes = {"penalties": {}, **changes}
    plan = Plan(str(encoder), pooler, pooler_settings or {}, LABELS)
    return train_model(data or parts(), plan, recipe(**changes), Path(folder), "cpu", progress=progress, watch=watch)
