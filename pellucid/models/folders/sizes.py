"""Whether a configuration fits its weights: sizes that the weights could never fill are refused before a network is built.

A configuration is a stranger's file too: one number in it can ask for all memory, or for hours of building. So its numbers
are first compared with the headers of the weights. Then the network is built with tensors that have sizes but no memory,
and building stops when it takes more steps than the number of tensors in the weights allows.
"""

from collections.abc import Callable, Iterator, Sequence
from math import prod
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from pellucid.base.errors import BadFile
from pellucid.base.json_text import Json
from pellucid.models.folders.configuration import entries
from pellucid.models.folders.weight_files import WeightSizes

SLACK = 10_000_000  # numbers that may be missing from the weights, as those of a head may be
COUNT = 20_000  # any number of a configuration may be as large as this, whatever the weights
LAYERS = 1_000, 10_000  # numbers of layers: allowed whatever the weights, and the most that is ever allowed
DEPTHS = ("layer", "layers", "depth", "depths", "blocks", "repeats")
TOTAL = 20_000_000  # the most that they may add up to: each can be a loop in the library
LENGTH = 1 << 28  # for lengths in tokens and bases of rotations, which allocate nothing
LENGTHS = ("position", "theta", "length", "window", "base", "n_ctx", "context", "distance", "seq_len")
IDS = ("_id", "_ids", "_index", "_token")
BUFFERS = 512 << 20  # bytes of tables that are not weights
# Calls of torch while a network is built: for any network, more for each tensor of its weights, and at most. A tensor
# takes 7.
CALLS = 1_000, 30, 100_000
DRAWS = (
    "normal_",
    "uniform_",
    "trunc_normal_",
    "kaiming_uniform_",
    "xavier_uniform_",
    "xavier_normal_",
    "fill_",
    "zero_",
)


def check_numbers(config: dict[str, Json], sizes: WeightSizes, path: Path) -> None:
    """Raise `BadFile` when a number of a configuration, however deep, is out of proportion to its weights."""
    total = 0
    for name, value in entries(
        {key: part for key, part in config.items() if key not in ("id2label", "label2id")}
    ):
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
            continue
        most = _most(name, sizes)
        if not value <= most:
            raise BadFile(
                f"{path} says {name}={value}, which cannot be; beside these weights at most {most:,} is read."
            )
        total += max(int(value), 0) if most < LENGTH else 0
    if total > TOTAL + 64 * sizes.largest:
        raise BadFile(
            f"The numbers in {path} add up to {total:,}, which no model of this size needs; it is spoilt."
        )


def _most(name: str, sizes: WeightSizes) -> int:
    """The largest value that a number of this name may have."""
    if name.endswith(IDS) or any(part in name for part in LENGTHS):
        return LENGTH
    if name.endswith(DEPTHS):
        return min(max(LAYERS[0], 2 * sizes.tensors), LAYERS[1])
    return max(COUNT, 2 * sizes.largest)


class WithTensors(Protocol):
    """A network."""

    def parameters(self) -> Iterator[nn.Parameter]:
        """Its weights."""
        ...

    def buffers(self) -> Iterator[Tensor]:
        """Its tables of numbers that are no weights."""
        ...


def check_sizes(make: Callable[[], WithTensors], sizes: WeightSizes, path: Path) -> None:
    """Raise `BadFile` when a network is far larger than the weights beside its configuration.

    make: builds the network; it is called where tensors have sizes and no memory.
    """
    with torch.device("meta"), _Bounded(sizes, path):
        network = make()
    needed = sum(parameter.numel() for parameter in network.parameters())
    if needed > 2 * sizes.numbers + SLACK:
        raise BadFile(
            f"{path} describes a model of {needed:,} numbers, but the weights beside it have {sizes.numbers:,}; "
            "they do not belong together."
        )
    tables = sum(buffer.numel() * buffer.element_size() for buffer in network.buffers())
    if tables > 16 * sizes.numbers + BUFFERS:
        raise BadFile(
            f"{path} describes a model with tables of {tables:,} bytes, which its weights do not need."
        )


class _Bounded(TorchFunctionMode):
    """Counts the calls of torch in this thread, and refuses tensors that would take memory."""

    def __init__(self, sizes: WeightSizes, path: Path) -> None:
        super().__init__()
        self.left = min(CALLS[0] + CALLS[1] * sizes.tensors, CALLS[2])
        self.most = sizes.numbers + 5 * SLACK
        self.path = path

    def __torch_function__(
        self, function: Callable, types: object, args: tuple = (), kwargs: dict | None = None
    ) -> object:
        self.left -= 1
        if self.left < 0:
            raise BadFile(
                f"{self.path} describes a model of many more parts than the weights beside it have."
            )
        kwargs = kwargs or {}
        name = getattr(function, "__name__", "")
        drawn = args[0] if args else kwargs.get("tensor")
        if name in DRAWS and isinstance(drawn, Tensor) and drawn.is_meta:
            return drawn  # there is nothing to fill, and the library takes milliseconds to see that
        allocates = str(kwargs.get("device") or "meta") != "meta"
        if allocates and _most_numbers(name, args) > self.most:
            self._refuse()
        answer = function(*args, **kwargs)
        if isinstance(answer, Tensor) and answer.numel() > self.most and not answer.is_meta:
            self._refuse()
        return answer

    def _refuse(self) -> None:
        raise BadFile(f"{self.path} describes a model with larger tables than the weights beside it.")


def _most_numbers(name: str, args: Sequence[object]) -> int:
    """The most numbers of a tensor that a function builds from these whole numbers."""
    if name in ("arange", "range", "linspace"):
        return max([1, *(abs(value) for value in args if isinstance(value, int))])
    sizes = args[:1] if name == "full" else args
    flat = [side for size in sizes for side in (size if isinstance(size, list | tuple) else [size])]
    return prod(max(side, 1) for side in flat if isinstance(side, int))
