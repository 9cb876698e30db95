"""What a network writes into its own buffers while it reads a text is put back: counters, running statistics, caches.

Parameters are not copied: nothing but `max_norm` of an embedding changes them when they are read, and such a table is
refused (`in_memory.py`). Nor are buffers of more than a million numbers, which are tables and not counters.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from pellucid.base.errors import ParityBroken
from pellucid.models.classifiers.hooks import evaluating
from pellucid.run.parity import residuals
from pellucid.run.rounding import TOLERANCE
from pellucid.run.trace import Trace

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
    """Evaluation mode inside, as `evaluating`; what the network writes into its buffers is put back when the last
    thread leaves.
    """
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


# Runs of a network that nobody disturbs: another thread may switch the user's network between training and
# evaluation.
#
# A flag that was switched on and off again within one run leaves no trace of its own. But dropout draws from torch's
# random state, so a run whose flags are off at its end and that drew nothing had none. Where something was drawn, by
# whomever, the run is repeated: without dropout two runs are equal.

RUNS = 8  # of one question, at most

Answer = TypeVar("Answer")
Numbers = Sequence[Tensor]


def undisturbed(
    network: nn.Module, name: str, run: Callable[[], Answer], numbers: Callable[[Answer], Numbers]
) -> Answer:
    """What `run` returns in evaluation mode, as if no other thread touched the network.

    name: what messages call the model. numbers: what of an answer two equal runs share. Raises `ParityBroken` where
    every run gives another answer: by a random state, or by a thread that goes on switching modes.
    """
    earlier: list[Numbers] = []
    for _ in range(RUNS):
        with reading(network) as modules:
            drawn = _random_state()
            try:
                answer = run()
            except Exception:
                if _any_trains(modules):
                    continue  # some networks fail in training mode
                raise
            if _any_trains(modules):
                continue
        if torch.equal(drawn, _random_state()):
            return answer
        ours = [each.detach() for each in numbers(answer)]
        if any(_equal(ours, others) for others in earlier):
            return answer
        earlier.append(ours)
    if len(earlier) == RUNS and all(_near(earlier[-1], others) for others in earlier):
        return answer  # a network that rounds at random
    raise ParityBroken(
        f"{name} gives another answer in each of {RUNS} passes over one text: it depends on a random state, or another "
        f"thread switches it between training and evaluation, which must wait until it is explained."
    )


def _any_trains(modules: Sequence[nn.Module]) -> bool:
    return any(getattr(module, "training", False) for module in modules)


def shared_numbers(trace: Trace) -> Numbers:
    """What two equal runs of the same rows share: the answer, or the deepest state that was needed."""
    return [trace.logits, trace.embeddings, *trace.hidden[-1:]]


def _random_state() -> Tensor:
    """What dropout changes: the state of torch's generator, and how far those of GPUs have come."""
    state = torch.default_generator.get_state()
    if not torch.cuda.is_initialized():
        return state
    offsets = [generator.get_offset() for generator in torch.cuda.default_generators]
    return torch.cat([state.long(), torch.tensor(offsets)])


def _equal(ours: Numbers, others: Numbers) -> bool:
    return all(torch.equal(our, two) for our, two in zip(ours, others, strict=True))


def _near(ours: Numbers, others: Numbers) -> bool:
    """Whether two runs differ by no more than the guard allows."""
    pairs = zip(ours, others, strict=True)
    return all(
        bool((residuals(first, second) <= TOLERANCE[first.dtype]).all()) for first, second in pairs if first.numel()
    )
