"""What a network writes into its own buffers while it reads a text is put back: counters, running statistics, caches.

Parameters are not copied: nothing but `max_norm` of an embedding changes them when they are read, and such a table is refused
(`in_memory.py`). Nor are buffers of more than a million numbers, which are tables and not counters.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from pellucid.models.classifiers.hooks import evaluating

MOST = 2**20  # numbers of a buffer that is copied

_COPYING = threading.Lock()
_copies: "WeakKeyDictionary[nn.Module, dict[str, _Copy]]" = WeakKeyDictionary()
_readers: dict[nn.Module, int] = {}  # modules with buffers that so many threads read now


@dataclass(frozen=True, eq=False)
class _Copy:
    """A buffer, the version that torch counted when it was copied, and the copy."""

    buffer: Tensor
    version: int
    numbers: Tensor


@contextmanager
def reading(network: nn.Module) -> Iterator[list[nn.Module]]:
    """Evaluation mode inside, as `evaluating`; what the network writes into its buffers is put back when the last thread leaves."""
    with evaluating(network) as modules:
        with_buffers = _begin_reading(network.modules())
        try:
            yield modules
        finally:
            _end_reading(with_buffers)


def _begin_reading(modules: Iterable[nn.Module]) -> list[nn.Module]:
    """Copy the buffers of these modules, unless the last copies are still right; returns the modules that have any."""
    with_buffers = [module for module in modules if module._buffers]
    with _COPYING:
        for module in with_buffers:
            if module not in _readers:
                _copies[module] = _copied(module)
            _readers[module] = _readers.get(module, 0) + 1
    return with_buffers


def _end_reading(with_buffers: Sequence[nn.Module]) -> None:
    with _COPYING:
        for module in with_buffers:
            _readers[module] -= 1
            if not _readers[module]:
                del _readers[module]
                _put_back(module, _copies[module])


def _copied(module: nn.Module) -> dict[str, _Copy]:
    earlier = _copies.get(module, {})
    copies = {}
    for name, buffer in module._buffers.items():
        if isinstance(buffer, Tensor) and _is_copied(buffer):
            last = earlier.get(name)
            is_right = last is not None and last.buffer is buffer and last.version == buffer._version
            copies[name] = last if last is not None and is_right else _copy(buffer)
    return copies


def _is_copied(buffer: Tensor) -> bool:
    """Of an inference tensor torch counts no change, and one on the meta device has no numbers."""
    return buffer.numel() <= MOST and not buffer.is_inference() and not buffer.is_meta


def _copy(buffer: Tensor) -> _Copy:
    with torch.inference_mode(False):
        return _Copy(buffer, buffer._version, buffer.detach().clone())


def _put_back(module: nn.Module, copies: dict[str, _Copy]) -> None:
    for name, copy in copies.items():
        if module._buffers.get(name) is not copy.buffer:
            module._buffers[name] = copy.buffer
        if copy.buffer._version != copy.version:
            with torch.inference_mode(False), torch.no_grad():
                copy.buffer.copy_(copy.numbers)
            copies[name] = _Copy(copy.buffer, copy.buffer._version, copy.numbers)
