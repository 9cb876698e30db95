"""Look inside a running network and leave it as it was: every change here ends with its `with` block.

Other threads that run the network at the same time notice only that it is in evaluation mode.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import torch
from torch import Tensor, nn

from pellucid.models.families.probes import attention_modules, block_input
from pellucid.run.module_hooks import hook_input, hook_output
from pellucid.run.rounding import InWiderNumbers

_CHANGING_MODES = threading.Lock()
_evaluated: dict[nn.Module, int] = {}  # modules in evaluation mode only until so many threads have left it


@contextmanager
def evaluating(network: nn.Module) -> Iterator[list[nn.Module]]:
    """Evaluation mode inside; the last thread to leave restores the modes of all submodules before the first one
    entered.

    Gives the modules that are in evaluation mode now: all but those of programs that torch exported, which stay in
    theirs.
    """
    modules = list(network.modules())
    to_train = _begin_evaluating(network, modules)
    try:
        yield [module for module in modules if not getattr(module, "training", False)]
    finally:
        if to_train:
            _end_evaluating(to_train)


def _begin_evaluating(network: nn.Module, every: Sequence[nn.Module]) -> list[nn.Module]:
    """The modules that are to train again."""
    with _CHANGING_MODES:
        modules = [module for module in every if getattr(module, "training", False) or module in _evaluated]
        if any(module.training for module in modules):
            with suppress(NotImplementedError):  # an exported program stays as it was exported
                network.eval()
        for module in modules:
            _evaluated[module] = _evaluated.get(module, 0) + 1
        return modules


def _end_evaluating(modules: Sequence[nn.Module]) -> None:
    with _CHANGING_MODES:
        for module in modules:
            _evaluated[module] -= 1
            if not _evaluated[module]:
                del _evaluated[module]
                module.training = True


@contextmanager
def output_through(module: nn.Module, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """The module's output, or the first of its outputs, passes through a function."""

    def changed(_: nn.Module, __: tuple[Any, ...], output: Tensor | tuple[Any, ...] | list[Any]) -> object:
        return with_first(output, change)

    remove = hook_output(module, changed)
    try:
        yield
    finally:
        remove()


def with_first(output: Tensor | tuple[Any, ...] | list[Any], change: Callable[[Tensor], Tensor]) -> object:
    """A module's output with its first tensor changed; some modules give several, in a tuple or a list."""
    if isinstance(output, tuple | list):
        changed = (change(output[0]), *output[1:])
        return type(output)(*changed) if hasattr(output, "_fields") else type(output)(changed)
    return change(output)


@contextmanager
def word_embeddings(
    module: nn.Module,
    seen: list[Tensor],
    *,
    instead: Tensor | None = None,
    gradients: bool = False,
    again: nn.Module | None = None,
    length: int | None = None,
    time_first: bool = False,
) -> Iterator[None]:
    """Append the embedding module's outputs to seen, or what the network reads instead of them, [row piece width].

    instead: embeddings that the network reads instead of its own; None: its own. gradients: what is seen are leaves of
    the graph. again: the module through which a decoder reads them once more, a position later. length: pieces of a
    row, where the network may lengthen its rows and look up more than words. time_first: the module's output is [piece
    row width].
    """
    read: list[Tensor] = []

    def change(output: Tensor) -> Tensor:
        if read and length is not None:  # some networks read other things by the same table
            return repeat(output) if again is module else output
        if time_first:
            return exchanged(output.transpose(0, 1)).transpose(0, 1)
        return exchanged(output)

    def exchanged(output: Tensor) -> Tensor:
        embeddings = output[:, :length] if instead is None else instead.to(output.dtype)
        seen.append(embeddings.detach().requires_grad_() if gradients else embeddings)
        read.append(_in_front(seen[-1].clone(), output))  # the network may go on in place
        return read[-1]

    def repeat(output: Tensor) -> Tensor:
        return torch.cat([output[:, :1], read[-1][:, :-1]], 1)

    with ExitStack() as stack:
        stack.enter_context(output_through(module, change))
        if again is not None and again is not module:
            stack.enter_context(output_through(again, repeat))
        yield


def _in_front(part: Tensor, whole: Tensor) -> Tensor:
    """The part in the place of the whole's first pieces."""
    return part if part.shape[1] == whole.shape[1] else torch.cat([part, whole[:, part.shape[1] :]], 1)


@contextmanager
def computing_in(blocks: Sequence[nn.Module], dtype: torch.dtype) -> Iterator[None]:
    """The blocks' feed-forward layers compute in another number type, their weights staying what they are.

    Attention, the first of several blocks, and everything after the blocks keep their own type: rounding there costs
    most of the accuracy, and little time is spent there.
    """
    entered: list[torch.autocast] = []

    def enter(enabled: bool) -> Callable[..., Any]:
        def begin(module: nn.Module, _: tuple[Any, ...]) -> None:
            device = next(module.parameters()).device.type
            entered.append(torch.autocast(device, dtype=dtype, enabled=enabled))
            entered[-1].__enter__()

        return begin

    def leave(*_: object) -> None:
        if entered:  # an error may come before a block has begun
            entered.pop().__exit__(None, None, None)

    with ExitStack() as stack:
        for block in blocks[1:] or blocks:
            for module, enabled in ((block, True), *((each, False) for each in attention_modules(block))):
                stack.callback(hook_input(module, enter(enabled)))
                stack.callback(hook_output(module, leave, always_call=True))
        try:
            yield
        finally:
            while entered:
                leave()


@contextmanager
def wide_after(blocks: Iterable[nn.Module], n_calls: int) -> Iterator[None]:
    """What the network computes after the last of n_calls calls of these blocks is computed in float32 at least."""
    calls = 0

    with ExitStack() as stack, ExitStack() as wide:

        def count(*_: object) -> None:
            nonlocal calls
            calls += 1
            if calls == n_calls:
                wide.enter_context(InWiderNumbers())

        for block in blocks:
            stack.callback(hook_output(block, count))
        yield


@contextmanager
def graph_after(blocks: Iterable[nn.Module], n_calls: int, seen: list[Tensor], length: int) -> Iterator[None]:
    """What the network computes after the last of n_calls calls of these blocks has a graph; nothing before it has one.

    seen: gets its leaf, the states [row piece width] of that call. length: pieces of a row.
    """
    calls = 0

    def leaf(state: Tensor) -> Tensor:
        torch.set_grad_enabled(True)
        seen.append(state[:, :length].detach().requires_grad_())
        return _in_front(seen[0].clone(), state)  # the network may go on in place

    def count(_: nn.Module, __: tuple[Any, ...], output: Tensor | tuple[Any, ...] | list[Any]) -> object:
        nonlocal calls
        calls += 1
        return with_first(output, leaf) if calls == n_calls else output

    with ExitStack() as stack:
        for block in blocks:
            stack.callback(hook_output(block, count))
        with torch.no_grad():
            yield


class Enough(BaseException):
    """The deepest hidden state that is needed has been computed: the rest of the network need not run.

    It is no `Exception`: on one, torch walks over a module's hooks, which other threads may be adding to.
    """


@contextmanager
def hidden_states(
    blocks: nn.ModuleList,
    seen: list[Tensor],
    *,
    deepest: int | None = None,
    layer: int | None = None,
    instead: Tensor | None = None,
    length: int | None = None,
) -> Iterator[None]:
    """Append hidden states to seen: the first block's input, then each block's output in the order of their calls.

    In the order of calls, since a network may run one block several times (ALBERT). deepest: the network stops, raising
    `Enough`, after this state. instead: what the network reads as the hidden state of that layer, a leaf of the graph.
    length: pieces of a row, where the network may lengthen its rows.
    """

    def record(whole: Tensor) -> Tensor:
        state = whole if length is None or whole.shape[1] == length else whole[:, :length]
        if instead is not None and len(seen) == layer:
            state = instead.to(state.dtype).detach().requires_grad_(torch.is_grad_enabled())
        seen.append(state)
        if len(seen) - 1 == deepest:
            raise Enough
        return _in_front(state, whole)

    def first_input(
        _: nn.Module, args: tuple[Any, ...], kwargs: dict[str, object]
    ) -> tuple[tuple[Any, ...], dict[Any, Any]] | None:
        if seen:
            return None
        state = record(block_input(args, kwargs))
        return ((state, *args[1:]), kwargs) if args else (args, {**kwargs, "hidden_states": state})

    def output_of(_: nn.Module, __: tuple[Any, ...], output: Tensor | tuple[Any, ...] | list[Any]) -> object:
        return with_first(output, record)

    with ExitStack() as stack:
        stack.callback(hook_input(blocks[0], first_input, with_kwargs=True))
        for block in blocks:
            stack.callback(hook_output(block, output_of))
        yield


@contextmanager
def head_at(head: nn.Module | None, places: Tensor) -> Iterator[None]:
    """The head reads the states of these places [row piece] and of no others; None: there is no module to ask.

    Heads read each place by itself, so nothing else changes.
    """
    if head is None:
        yield
        return

    def at_those(_: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
        return (at_places(args[0], places), *args[1:])

    remove = hook_input(head, at_those)
    try:
        yield
    finally:
        remove()


def at_places(states: Tensor, places: Tensor) -> Tensor:
    """[row place width] -> [row piece width]"""
    return states[torch.arange(len(states), device=states.device)[:, None], places]
