"""The file with the weights of the best epoch so far; it names their run and their epoch."""

import json
from pathlib import Path

from safetensors import SafetensorError, safe_open
from torch import nn

from pellucid.core.foundation.errors import BadFile
from pellucid.models.folders.tensors import save_tensors


def save_best(path: Path, network: nn.Module, fingerprint: str, epoch: int) -> None:
    """Write a network's weights with the run and the epoch that they are of."""
    of = json.dumps({"fingerprint": fingerprint, "epoch": epoch})
    save_tensors(network.state_dict(), path, metadata={"of": of})


def check_best(path: Path, fingerprint: str, epochs: set[int]) -> None:
    """Raise `BadFile` unless the file exists and is of this run and one of these epochs."""
    try:
        with safe_open(path, framework="pt") as file:
            of = json.loads((file.metadata() or {})["of"])
        fits = of["fingerprint"] == fingerprint and of["epoch"] in epochs
    except (SafetensorError, OSError, ValueError, LookupError, TypeError):
        fits = False
    if not fits:
        raise BadFile(
            f"{path} is missing or not of this run's best epoch; remove {path.parent} to train it again."
        )
