"""The most memory that this process used since a moment, as Linux counts it."""

from pathlib import Path

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
