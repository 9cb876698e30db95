"""What torch computes in: contexts, random numbers of their own, and checksums of tensors."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from pellucid.base.errors import ModelCannot

KINDS = ("cpu", "cuda", "mps", "xpu")  # of devices
AutocastTypes = tuple[tuple[str, torch.dtype], ...]


def autocast_types() -> AutocastTypes:
    """The kinds of device on which autocast is active in this thread, with the number type that it rounds to."""
    return tuple((kind, torch.get_autocast_dtype(kind)) for kind in KINDS if torch.is_autocast_enabled(kind))


@contextmanager
def without_autocast() -> Iterator[None]:
    """Autocast switched off, wherever it is active."""
    with ExitStack() as stack:
        for kind, _ in autocast_types():
            stack.enter_context(torch.autocast(kind, enabled=False))
        yield


def autocast_for_good(types: AutocastTypes) -> None:
    """Switch autocast on in this thread until it ends: a process that shares another's work computes as that one
    does.
    """
    for kind, dtype in types:
        torch.autocast(kind, dtype=dtype).__enter__()


def check_computes() -> None:
    """Raise `ModelCannot` while tensors are made on the meta device, which has shapes and no numbers."""
    if torch.get_default_device().type == "meta":
        raise ModelCannot(
            "New tensors are made on the meta device here, which computes nothing; call this outside of `with "
            "torch.device('meta')`, or after torch.set_default_device('cpu')."
        )


# Random numbers that neither change nor read the process's random state, which all threads share.


class OwnDraws(TorchDispatchMode):
    """While active, this thread draws random numbers on the CPU from a generator of its own.

    The numbers are those after `torch.manual_seed(seed)`. Use it to build networks, not to train them: every call of
    torch takes longer.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._generator = torch.Generator().manual_seed(seed)

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: object,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        options = dict(kwargs or {})
        if _draws(func) and options.get("generator") is None:
            options["generator"] = self._generator
        return func(*args, **options)


class UndrawnParameters(TorchDispatchMode):
    """While active, this thread fills no parameter with random numbers: what a network begins with stays undefined.

    For a network all of whose parameters are loaded afterwards; drawing them takes as long as reading them. Other
    tensors, such as tables that are not saved, are drawn as ever.
    """

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: object,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        if args and isinstance(args[0], nn.Parameter) and _draws(func):
            return args[0]
        return func(*args, **(kwargs or {}))


def _draws(func: Callable[..., Any]) -> bool:
    return any(argument.name == "generator" for argument in func._schema.arguments)  # type: ignore[attr-defined]


# A sum over the bytes of a tensor, by which a change is noticed that torch does not count.

BLOCK = 256  # words of eight bytes that are summed before they are weighted
WORDS = 2**64  # so many values has a word

Sums = dict[tuple[int, int, int], tuple[Tensor, int]]  # id, address and version -> the tensor and its sum
_remembered: ContextVar[Sums | None] = ContextVar("remembered_sums", default=None)


@contextmanager
def sums_remembered() -> Iterator[None]:
    """While active in this thread, `checksum_once` sums each tensor once, until torch counts a change of it.

    For many passes of one call. What a hook or another thread changes meanwhile behind torch's back is noticed at the
    next call.
    """
    if _remembered.get() is not None:
        yield
        return
    token = _remembered.set({})
    try:
        yield
    finally:
        _remembered.reset(token)


def checksum_once(tensor: Tensor) -> int:
    """`checksum`, remembered inside `sums_remembered`."""
    sums = _remembered.get()
    if sums is None or tensor.is_inference():  # of an inference tensor torch counts no change
        return checksum(tensor)
    key = id(tensor), tensor.data_ptr(), tensor._version
    if key not in sums:
        sums[key] = tensor, checksum(tensor)  # the tensor too: its number must not go to another one
    return sums[key][1]


def checksum(tensor: Tensor) -> int:
    """A sum of the bytes as words, modulo 2 ** 64; blocks of them are weighted by odd numbers, so that order counts.

    It takes about as long as reading the memory. It notices every single number that changes; it may miss two numbers
    that change places within 2,048 bytes.
    """
    return _on_processor(tensor) if tensor.device.type == "cpu" else _on_device(tensor)


def _on_processor(tensor: Tensor) -> int:
    """The sum by numpy: every pass of some routes needs it of every weight, and a call of torch's functions takes
    longer.
    """
    raw = _bytes(tensor)
    whole = raw.size // 8 * 8
    words = raw[:whole].view(np.int64)
    if whole < raw.size:
        words = np.concatenate([words, raw[whole:].astype(np.int64)])
    in_blocks = words.size // BLOCK * BLOCK
    blocks, rest = words[:in_blocks].reshape(-1, BLOCK).sum(1), words[in_blocks:]
    total = int(blocks.dot(_odd(blocks.size))) - int(rest.dot(_odd(rest.size)))
    return (total + WORDS // 2) % WORDS - WORDS // 2


def _bytes(tensor: Tensor) -> np.ndarray:
    try:
        plain = tensor.detach().numpy()
    except TypeError:  # a number type that numpy does not have
        plain = tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy()
    return np.ascontiguousarray(plain).reshape(-1).view(np.uint8)


def _odd(count: int) -> np.ndarray:
    """1, 3, 5, ... as many as that."""
    return np.arange(1, 2 * count + 1, 2, dtype=np.int64)


@torch.no_grad()
def _on_device(tensor: Tensor) -> int:
    """The same sum where the tensor is."""
    words = _words(tensor)
    whole = len(words) // BLOCK * BLOCK
    blocks, rest = words[:whole].view(-1, BLOCK).sum(1), words[whole:]
    weights = [torch.arange(1, 2 * len(part) + 1, 2, device=part.device) for part in (blocks, rest)]
    return int((blocks * weights[0]).sum() - (rest * weights[1]).sum())


def _words(tensor: Tensor) -> Tensor:
    """The tensor's bytes as whole numbers of eight bytes each; each remaining byte is a number of its own."""
    raw = tensor.detach().contiguous().reshape(-1).view(torch.uint8)
    if raw.storage_offset() % 8:
        raw = raw.clone()
    whole = len(raw) // 8 * 8
    words = raw[:whole].view(torch.int64)
    return words if whole == len(raw) else torch.cat([words, raw[whole:].long()])
