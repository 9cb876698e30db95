"""A graph that fits: what blocks leave for the way back is dropped where it grows large, and computed again there.

A chat of 4,000 pieces leaves a quarter of a gigabyte in each block of a small network. So of most blocks only what they
read stays, and on the way back they run once more, one after another. Values and gradients are the same.

Chen et al. (2016), "Training Deep Nets with Sublinear Memory Cost", section 4. PyTorch's own `checkpoint` wraps the
call of a module, which all threads share; here hooks of this thread see where a block begins and ends.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from weakref import ReferenceType, ref

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.utils._pytree import tree_map

from pellucid.base.memory import give_back
from pellucid.base.torch_state import autocast_types, without_autocast
from pellucid.models.classifiers.buffer_copies import undisturbed
from pellucid.run.module_hooks import hook_input, hook_output, is_foreign_watched

LONG = 1280  # places of a pass; shorter ones keep everything, as a pack of short texts does
ROOM = 2**27  # bytes that the blocks of a pass may keep together: an eighth of a gigabyte
Under = Callable[[], AbstractContextManager[Any]]  # the context in which blocks run


@contextmanager
def recomputed(blocks: Sequence[nn.Module], n_places: int, under: Under) -> Iterator[None]:
    """The graph of a long pass that runs inside keeps of its blocks what there is room for; the others run again when
    gradients are computed.

    n_places: of all rows together. Blocks that somebody else watches run once only.
    """
    watched = any(is_foreign_watched(module) for block in blocks for module in block.modules())
    room = _room(blocks)
    if n_places <= LONG or watched or not torch.is_grad_enabled():
        yield
        return
    run = _LongPass(under, autocast_types(), room)
    with ExitStack() as stack:
        stack.callback(run.end)
        for block in blocks:
            stack.callback(hook_input(block, run.begin, with_kwargs=True))
            stack.callback(hook_output(block, run.end))
        yield


def _room(blocks: Sequence[nn.Module]) -> int:
    """Of a GPU half of what is free."""
    device = next((parameter.device for block in blocks for parameter in block.parameters()), torch.device("cpu"))
    return max(ROOM, int(torch.cuda.mem_get_info(device)[0]) // 2) if device.type == "cuda" else ROOM


@dataclass(eq=False)
class _LongPass:
    """The blocks of one pass. room: bytes that are left for them. latest: the call that ran again last, and what it
    left then: of one call at a time, in each thread.
    """

    under: Under
    autocast: tuple[tuple[str, torch.dtype], ...]
    room: int
    open: "list[tuple[_Call, saved_tensors_hooks]]" = field(default_factory=list)
    latest: "tuple[ReferenceType[_Call], list[Tensor]] | None" = None

    def begin(self, block: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A block reads these."""
        call = _Call(self, block, args, kwargs)
        self.open.append((call, saved_tensors_hooks(call.pack, _unpacked)))
        self.open[-1][1].__enter__()

    def end(self, *_: object) -> None:
        """The block has run, or an error ended it."""
        while self.open:
            call, hooks = self.open.pop()
            hooks.__exit__()
            call.forget_unless(self)

    @contextmanager
    def context(self) -> Iterator[None]:
        """As the blocks ran: with a graph, in the same number types and by the same rules."""
        with ExitStack() as stack:
            stack.enter_context(torch.inference_mode(False))
            stack.enter_context(torch.enable_grad())
            stack.enter_context(without_autocast())
            for kind, dtype in self.autocast:
                stack.enter_context(torch.autocast(kind, dtype=dtype))
            stack.enter_context(self.under())
            yield


_last = threading.local()  # its `run`: the one whose block ran again last


@dataclass(eq=False)
class _Call:
    """One call of a block. saved: what it left for the way back, in order; None where that was dropped."""

    run: _LongPass
    block: nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    count: int = 0
    saved: list[Tensor] | None = field(default_factory=list)

    def pack(self, tensor: Tensor) -> "tuple[_Call, int]":
        """What the graph keeps in place of a tensor."""
        assert self.saved is not None  # the block runs
        self.saved.append(tensor.detach())
        self.count += 1
        return self, self.count - 1

    def forget_unless(self, run: _LongPass) -> None:
        """Drop what was saved unless the run has room for it."""
        weights = {parameter.data_ptr() for parameter in self.block.parameters()}
        sizes = {each.data_ptr(): each.numel() * each.element_size() for each in self.saved or ()}
        size = sum(size for pointer, size in sizes.items() if pointer not in weights)
        if size > run.room:
            self.saved = None
            give_back()
        else:
            run.room -= size

    def values(self) -> list[Tensor]:
        """What was saved; computed again where it was dropped."""
        if self.saved is not None:
            return self.saved
        if self.run.latest is None or self.run.latest[0]() is not self:
            before = getattr(_last, "run", lambda: None)()
            if before is not None:
                before.latest = None
            _last.run = ref(self.run)
            self.run.latest = None  # before it runs, so that there are never two
            give_back()
            again = undisturbed(self.block, type(self.block).__name__, self._again, lambda saved: saved)
            self.run.latest = (ref(self), again)
        return self.run.latest[1]

    def _again(self) -> list[Tensor]:
        saved: list[Tensor] = []

        args, kwargs = tree_map(_leaf, (self.args, self.kwargs))
        keep = lambda tensor: saved.append(tensor.detach())  # noqa: E731  # and nothing for a graph that nobody reads
        with self.run.context(), saved_tensors_hooks(keep, lambda nothing: nothing):
            self.block.forward(*args, **kwargs)
        assert len(saved) == self.count, "a block that runs again leaves the same for the way back"
        return saved


def _leaf(value: object) -> object:
    return value.detach().requires_grad_(value.requires_grad) if isinstance(value, Tensor) else value


def _unpacked(packed: tuple[_Call, int]) -> Tensor:
    call, index = packed
    return call.values()[index]
