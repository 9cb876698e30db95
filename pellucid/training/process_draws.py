"""Dropout draws from the process's one random state: a training sets it, and puts it back."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

import torch

_DRAWING = RLock()  # of several trainings all but one wait


@contextmanager
def drawing_from(seed: int, device: torch.device) -> Iterator[None]:
    """The random state of the process and the device begins with the seed, and is as before at the end."""
    devices = [device] if device.type == "cuda" else []
    with _DRAWING, torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield
