"""The file with the weights of the best epoch so far; it names their run and their epoch."""

import json
from dataclasses import dataclass
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import nn

from pellucid.core.foundation.errors import BadFile
from pellucid.models.folders.tensors import save_tensors


@dataclass(frozen=True)
class BestWeights:
    """The best weights of one run. fingerprint: names the run."""

    path: Path
    fingerprint: str

    def save(self, network: nn.Module, epoch: int) -> None:
        """Write a network's weights with the run and the epoch that they are of."""
        of = json.dumps({"fingerprint": self.fingerprint, "epoch": epoch})
        save_tensors(network.state_dict(), self.path, metadata={"of": of})

    def check(self, epochs: set[int]) -> None:
        """Raise `BadFile` unless the file exists and is of this run and one of these epochs."""
        try:
            with safe_open(self.path, framework="pt") as file:
                of = json.loads((file.metadata() or {})["of"])
            fits = of["fingerprint"] == self.fingerprint and of["epoch"] in epochs
        except (SafetensorError, OSError, ValueError, LookupError, TypeError):
            fits = False
        if not fits:
            raise BadFile(
                f"{self.path} is missing or not of this run's best epoch; remove {self.path.parent} to train it again."
            )

    def load_into(self, network: nn.Module) -> None:
        """Replace a network's weights by those of the file."""
        network.load_state_dict(load_file(self.path))
