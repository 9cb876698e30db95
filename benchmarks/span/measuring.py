"""Time and memory of one call. On a CPU the process's own time, so that neighbours disturb less."""

import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch


def milliseconds(call: Callable[[], object], runs: int, device: str = "cpu", warm: bool = True) -> float:
    """Median over the runs, after one that does not count."""
    if warm:
        call()
    times = [_once(call, device) for _ in range(runs)]
    return 1000 * statistics.median(times)


def _once(call: Callable[[], object], device: str) -> float:
    if device == "cpu":
        start = time.process_time()
        call()
        return time.process_time() - start
    torch.cuda.synchronize()
    start = time.perf_counter()
    call()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def peak_megabytes(call: Callable[[], object], device: str = "cpu") -> float:
    """Growth of memory over one call: resident memory (Linux), or the device's."""
    if device != "cpu":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        call()
        return (torch.cuda.max_memory_allocated() - before) / 2**20
    status, reset = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    reset.write_text("5")  # the high-water mark falls to the present size
    before = _kilobytes(status, "VmRSS")
    call()
    return (_kilobytes(status, "VmHWM") - before) / 1024


def _kilobytes(status: Path, field: str) -> int:
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith(field))
