"""The door `load`: a classifier from a folder, a hub name, or from memory."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.errors import BadInput, BadSetting
from pellucid.core.passes.target import Problem
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.hugging_face import wrap
from pellucid.models.load import load_classifier


def load(
    source: str | Path | torch.nn.Module,
    tokenizer: Any = None,
    *,
    device: str | None = None,
    dtype: str | None = None,
    problem: Problem | None = None,
    max_length: int | None = None,
) -> Classifier:
    """A classifier from a folder, a hub name, or a Hugging Face model in memory with its tokenizer.

    device, dtype: "cpu" and "float32" when not given; a model in memory stays where and what it is.

    problem: how logits become probabilities; read from the model's configuration when not given. max_length: the
    most pieces to read at once, if fewer than the model can (longer texts are read in windows). Raises `BadFile`
    when there is nothing to load, `ModelCannot` when there is no classification head. For other models see
    `from_network`, `from_function` and `from_pipeline`.
    """
    if max_length is not None:
        at_least("max_length", max_length, 8)
    if isinstance(source, torch.nn.Module):
        if tokenizer is None:
            raise BadInput(
                "To load a model that is in memory, give its tokenizer too: load(model, tokenizer)."
            )
        if device is not None or dtype is not None:
            raise BadSetting("A model in memory is used as it is; move it first: model.to(device, dtype).")
        found = wrap(source, tokenizer, problem)
    elif not isinstance(source, str | Path):
        raise BadInput(
            f"A model came as {type(source).__name__}; give a folder, a hub name, or a Hugging Face model with its tokenizer."
        )
    else:
        found = load_classifier(source, device=device or "cpu", dtype=dtype or "float32", problem=problem)
    return replace(found, window=max_length)
