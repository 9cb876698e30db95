"""A training run on disk: one file, there whole or not at all, from which it goes on as if never interrupted."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from pellucid.core.errors import BadFile
from pellucid.core.wording import reason
from pellucid.models.tensors import save_tensors


@dataclass
class Progressed:
    """How far a run is. epoch, step: the next to do; loss_sum: of this epoch so far; history: finished epochs.

    best: epoch whose weights are kept, or -1. fingerprint: of recipe, plan and data; another one cannot go on.
    """

    fingerprint: str
    epoch: int = 0
    step: int = 0
    loss_sum: float = 0.0
    best: int = -1
    history: list[dict[str, float]] = field(default_factory=list)


def save_checkpoint(
    path: Path, network: nn.Module, optimizer: torch.optim.Optimizer, progressed: Progressed
) -> None:
    """Write weights, optimizer state, random state and progress as one safetensors file."""
    tensors = {f"network.{name}": tensor for name, tensor in network.state_dict().items()}
    for number, state in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": torch.as_tensor(value) for name, value in state.items()}
    tensors["random.cpu"] = torch.get_rng_state()
    device = _device_of(network)
    if device.type == "cuda":
        tensors["random.cuda"] = torch.cuda.get_rng_state(device)
    save_tensors(tensors, path, metadata={"progress": json.dumps(asdict(progressed))})


def load_checkpoint(
    path: Path, network: nn.Module, optimizer: torch.optim.Optimizer, fingerprint: str
) -> Progressed:
    """Put a run back where it was; raises `BadFile` when the file belongs to another run or is broken."""
    try:
        with safe_open(path, framework="pt") as file:
            progressed = Progressed(**json.loads((file.metadata() or {})["progress"]))
            if progressed.fingerprint != fingerprint:
                raise BadFile(
                    f"{path.parent} holds an unfinished run with another recipe, encoder or data; "
                    "give another folder, or remove this one."
                )
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
        network.load_state_dict(_under("network.", tensors))
        _restore_optimizer(optimizer, _under("optimizer.", tensors))
        torch.set_rng_state(tensors["random.cpu"])
        device = _device_of(network)
        if "random.cuda" in tensors and device.type == "cuda":
            torch.cuda.set_rng_state(tensors["random.cuda"], device)
    except BadFile:
        raise
    except (
        SafetensorError,
        LookupError,
        ValueError,
        TypeError,
        AttributeError,
        RuntimeError,
        OSError,
    ) as error:
        raise BadFile(
            f"{path} is no checkpoint of ours ({reason(error)}); remove it to start again."
        ) from None
    return progressed


def _device_of(network: nn.Module) -> torch.device:
    """Where dropout is drawn; of several devices the current one need not be it."""
    return next(network.parameters()).device


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _restore_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    state: dict[int, dict[str, Any]] = {}
    for name, tensor in tensors.items():
        number, part = name.split(".", 1)
        state.setdefault(int(number), {})[part] = tensor
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
