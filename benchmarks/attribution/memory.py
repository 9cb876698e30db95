"""Peak memory of a run beyond what the process held before it: the high-water mark that Linux keeps, or CUDA's own."""

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import torch

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass
class Peak:
    """megabytes: growth at the highest point, in 10^6 bytes; not a number where the system cannot tell."""

    megabytes: float = float("nan")


def resident(device: str) -> float:
    """Megabytes held now."""
    if device == "cuda":
        return torch.cuda.memory_allocated() / 1e6
    return _megabytes("VmRSS")


@contextmanager
def peak(device: str, before: float) -> Iterator[Peak]:
    """Watch what runs inside; before: megabytes held when only the model was there."""
    growth = Peak()
    gc.collect()
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    else:
        with suppress(OSError):
            ctypes.CDLL("libc.so.6").malloc_trim(0)  # what others freed must not serve the run unseen
        with suppress(OSError):
            RESET.write_text("5")  # the high-water mark falls to the present size
    yield growth
    highest = torch.cuda.max_memory_allocated() / 1e6 if device == "cuda" else _megabytes("VmHWM")
    growth.megabytes = max(0.0, highest - before)


def _megabytes(field: str) -> float:
    with suppress(OSError):
        return next(
            int(line.split()[1]) * 1024 / 1e6 for line in STATUS.read_text().splitlines() if line.startswith(field)
        )
    return float("nan")
