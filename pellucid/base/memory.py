"""Memory: errors that mean it ran out, our own error for them, and the way of numbers to a GPU's memory."""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pellucid.base.checks import clipped
from pellucid.base.errors import NotEnoughMemory

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch
    from torch import Tensor

PHRASES = (
    "out of memory",
    "can't allocate memory",
    "cannot allocate memory",
    "not enough memory",
    "unable to allocate",
    "unable to mmap",
    "failed to map segment",
    "bad_alloc",
    "malloc of size",
    "realloc of size",
    "mha_graph.execute",  # cuDNN's attention, where its working memory finds no room
    "error return without exception set",  # how an import ends that has no memory even for its error
)


def is_memory_error(error: BaseException) -> bool:
    """Whether an error says that memory ran out, on a GPU or a CPU."""
    torch = sys.modules.get("torch")  # only where it is imported can an error be one of its own
    if isinstance(error, MemoryError | getattr(torch, "OutOfMemoryError", MemoryError)):
        return True
    return any(words in str(error).lower() for words in PHRASES)


def check_memory(error: BaseException, doing: str) -> None:
    """Raise `NotEnoughMemory` where an error that a library raised says that memory ran out; doing: "load MODEL"."""
    if is_memory_error(error):
        raise not_enough_memory(doing) from None


def not_enough_memory(doing: str) -> NotEnoughMemory:
    """The error, in one sentence."""
    return NotEnoughMemory(
        f"There is not enough memory to {clipped(doing)}; free some, raise the process's limit, or give less at once."
    )


def give_back() -> None:
    """Hand freed memory back to the system, where it can be asked to: large tensors of many sizes else leave gaps that
    nothing fits.
    """
    with suppress(AttributeError, OSError):  # only the C library of most Linux systems has it
        ctypes.CDLL(None).malloc_trim(0)


def to_device(tensor: Tensor, device: torch.device) -> Tensor:
    """The tensor there. From the CPU to a GPU it goes through pinned memory, so that nobody waits for what the GPU
    still computes.
    """
    if device.type == "cuda" and tensor.device.type == "cpu":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def index_on(device: torch.device, numbers: Sequence[int]) -> Tensor:
    """[number]: the numbers there, by which a tensor is indexed; by a list, torch copies them and waits for the GPU."""
    import torch

    return to_device(torch.tensor(numbers, dtype=torch.long), device)


def zeros_for(device: torch.device, *shape: int) -> Tensor:
    """Zeros on the CPU, to be filled in and sent there by `to_device`; for a GPU in pinned memory, so that nothing is
    copied twice.
    """
    import torch

    return torch.zeros(*shape, dtype=torch.float32, pin_memory=device.type == "cuda")


# The most memory that this process used since a moment, as Linux counts it.

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
RESET_PEAK = "5"  # proc(5): resets the peak to the memory that is in use


def start_peak() -> float:
    """Count the peak from now on; returns the bytes in use, nan where the system does not say."""
    try:
        CLEAR.write_text(RESET_PEAK)
        return _bytes("VmRSS")
    except (OSError, ValueError):
        return float("nan")


def peak() -> float:
    """The most bytes in use since `start_peak`; nan where the system does not say."""
    try:
        return _bytes("VmHWM")
    except (OSError, ValueError):
        return float("nan")


def _bytes(name: str) -> float:
    lines = (line.split() for line in STATUS.read_text(encoding="ascii").splitlines())
    kilobytes = [line[1] for line in lines if line and line[0] == f"{name}:"]
    if not kilobytes:
        raise ValueError(f"no {name}")
    return 1024.0 * int(kilobytes[0])
