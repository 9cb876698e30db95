"""A training run on disk: one file, written whole or not at all. A run goes on from it as if never interrupted."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor, nn

from pellucid.base.checks import changes, clipped, reason
from pellucid.base.errors import BadFile
from pellucid.models.folders.weight_files import save_tensors

UNREADABLE = (  # what a broken or spoilt file can raise
    SafetensorError,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    RuntimeError,  # among them RecursionError
    OverflowError,
    OSError,
)


@dataclass
class TrainingState:
    """How far a run is.

    fingerprint: names the run; another run cannot go on from here. epoch, step: the next to do. loss_sum: the sum of
    this epoch's losses so far. best: the epoch with the best weights, -1 before the first. history: the numbers of each
    finished epoch. span_count: what holds the number of spans, where one is wanted (`SpanCount.record`). settings: of
    the run, for a message to one with others; empty where the run has no such list.
    """

    fingerprint: str
    epoch: int = 0
    step: int = 0
    loss_sum: float = 0.0
    best: int = -1
    history: list[dict[str, float]] = field(default_factory=list)
    span_count: dict[str, float] = field(default_factory=dict)
    settings: dict[str, object] = field(default_factory=dict)

    def check(self, epochs: int, steps: int) -> None:
        """Raise `ValueError` for a state that no run of so many epochs, of so many steps each, can be in."""
        _whole("epoch", self.epoch, 0, epochs)
        _whole("step", self.step, 0, steps if self.epoch < epochs else 0)
        _number("loss_sum", self.loss_sum)
        if not math.isfinite(self.loss_sum):
            raise ValueError(f"loss_sum is {self.loss_sum}")
        if not isinstance(self.history, list) or len(self.history) != self.epoch:
            raise ValueError(f"its history is not that of {self.epoch} epochs")
        for epoch, numbers in enumerate(self.history):
            _whole("an epoch of its history", numbers["epoch"], epoch, epoch)
            for name in ("train_loss", "dev_accuracy", "dev_loss"):
                _number(name, numbers[name])
        best = best_epoch(self.history)
        _whole("best", self.best, best, best)


def best_epoch(history: Sequence[Mapping[str, float]]) -> int:
    """The epoch with the highest measure on dev; of equal ones the lowest dev loss, then the first. -1 without epochs.

    The measure is dev_measure, which is there where the recipe keeps the best by another than accuracy.

    Settled epochs, in which everything that is learnt was in force, come before all others. Where an objective stands
    in place of the labels, the epoch in which it is lowest on dev comes first.
    """
    return max(range(len(history)), key=lambda epoch: _rank(history[epoch]), default=-1)


def _rank(numbers: Mapping[str, float]) -> tuple[float, float, float, float]:
    settled, objective = numbers.get("settled", 1.0), numbers.get("dev_objective", 0.0)
    return settled, -objective, numbers.get("dev_measure", numbers["dev_accuracy"]), -numbers["dev_loss"]


def _whole(name: str, value: object, low: int, high: int) -> None:
    if type(value) is not int or not low <= value <= high:
        allowed = str(low) if low == high else f"{low} to {high}"
        raise ValueError(f"{name} is {clipped(repr(value))}, not {allowed}")


def _number(name: str, value: object) -> None:
    if type(value) not in (int, float):
        raise ValueError(f"{name} is {clipped(repr(value))}, not a number")


def save_checkpoint(path: Path, network: nn.Module, optimizer: torch.optim.Optimizer, state: TrainingState) -> None:
    """Write weights, optimizer state, random state and progress as one safetensors file."""
    tensors = {f"network.{name}": tensor for name, tensor in network.state_dict().items()}
    for index, moments in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{index}.{name}": torch.as_tensor(value) for name, value in moments.items()}
    tensors["random.cpu"] = torch.get_rng_state()
    device = _device_of(network)
    if device.type == "cuda":
        tensors["random.cuda"] = torch.cuda.get_rng_state(device)
    save_tensors(tensors, path, metadata={"progress": json.dumps(asdict(state))})


def load_checkpoint(
    path: Path,
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    *,
    fingerprint: str,
    epochs: int,
    steps: int,
    draws: bool = True,
    settings: Mapping[str, object] = MappingProxyType({}),
) -> TrainingState:
    """Restore weights, optimizer and random state, and return how far the run was.

    epochs: of the run. steps: of an epoch. draws: whether the run draws from the process's random state; of one that
    does not, that state stays as it is. settings: of the run, for the message where the file's are other ones. Raises
    `BadFile` when the file belongs to another run, is broken, or describes a state that no such run can be in.
    """
    try:
        with safe_open(path, framework="pt") as file:
            state = TrainingState(**json.loads((file.metadata() or {})["progress"]))
            if state.fingerprint != fingerprint:
                raise BadFile(
                    f"{path.parent} holds an unfinished run that began otherwise ({_difference(state, settings)}); "
                    f"give another folder, or remove this one."
                )
            state.check(epochs, steps)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
        network.load_state_dict(_under("network.", tensors))
        _restore_optimizer(optimizer, _under("optimizer.", tensors), state.epoch * steps + state.step)
        if draws:
            _restore_random_state(tensors, _device_of(network))
    except BadFile:
        raise
    except UNREADABLE as error:
        raise BadFile(f"{path} is no checkpoint of ours ({reason(error)}); remove it to start again.") from None
    return state


def _difference(state: TrainingState, settings: Mapping[str, object]) -> str:
    """What another run differs in from the one that a checkpoint is of, as far as the file says."""
    if not state.settings:
        return "with another recipe, encoder or data, or by an earlier version"
    return (
        changes(state.settings, settings)
        or "with another encoder, other texts, labels or marks, or another model that an objective reads"
    )


def _restore_random_state(tensors: dict[str, Tensor], device: torch.device) -> None:
    torch.set_rng_state(tensors["random.cpu"])
    if "random.cuda" in tensors and device.type == "cuda":
        torch.cuda.set_rng_state(tensors["random.cuda"], device)


def _device_of(network: nn.Module) -> torch.device:
    """The device that dropout is drawn on; with several devices it need not be the current one."""
    return next(network.parameters()).device


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _restore_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor], done: int) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        parameter_index, part = name.split(".", 1)
        state.setdefault(int(parameter_index), {})[part] = tensor
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    for index, parts in state.items():
        _check_state(index, parts, parameters, done)
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})


def _check_state(index: int, parts: dict[str, Tensor], parameters: list[Tensor], done: int) -> None:
    """Raise `ValueError` for a wrong state: torch would accept it, and fail or compute wrongly at the next step."""
    _whole("a parameter's number", index, 0, len(parameters) - 1)
    _whole("the optimizer's step", int(parts["step"]), 1, done)
    for name in ("exp_avg", "exp_avg_sq"):
        if parts[name].shape != parameters[index].shape:
            raise ValueError(f"{name} of parameter {index} is of another shape")


# The file with the weights of the best epoch so far; it names their run and their epoch.


@dataclass(frozen=True)
class BestWeights:
    """The best weights of one run. fingerprint: names the run."""

    path: Path
    fingerprint: str

    def save(self, network: nn.Module, epoch: int) -> None:
        """Write a network's weights with the run and the epoch that they are of."""
        run = json.dumps({"fingerprint": self.fingerprint, "epoch": epoch})
        save_tensors(network.state_dict(), self.path, metadata={"of": run})

    def check(self, epochs: set[int]) -> None:
        """Raise `BadFile` unless the file exists and is of this run and one of these epochs."""
        try:
            with safe_open(self.path, framework="pt") as file:
                run = json.loads((file.metadata() or {})["of"])
            fits = run["fingerprint"] == self.fingerprint and run["epoch"] in epochs
        except (SafetensorError, OSError, ValueError, LookupError, TypeError):
            fits = False
        if not fits:
            raise BadFile(
                f"{self.path} is missing or not of this run's best epoch; remove {self.path.parent} to train it again."
            )

    def load_into(self, network: nn.Module) -> None:
        """Replace a network's weights by those of the file."""
        network.load_state_dict(load_file(self.path))
