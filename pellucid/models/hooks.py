"""Looking inside a running network, and leaving it as it was: everything here ends with its `with`."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn


@contextmanager
def evaluating(network: nn.Module) -> Iterator[None]:
    """Evaluation mode inside; afterwards every submodule has the mode it had."""
    modes = {module: module.training for module in network.modules()}
    if any(modes.values()):  # setting modes costs as much as asking about a short text
        network.eval()
    try:
        yield
    finally:
        for module, mode in modes.items():
            if module.training is not mode:
                module.training = mode


@contextmanager
def output_through(module: nn.Module, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """The module's output passes through a function."""
    handle = module.register_forward_hook(lambda _, __, output: change(output))
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def word_embeddings(
    module: nn.Module, instead: Tensor | None, gradients: bool, found: list[Tensor]
) -> Iterator[None]:
    """Fill found with the embedding module's outputs, or with what the network reads instead of them.

    gradients: they are leaves of the graph.
    """

    def change(output: Tensor) -> Tensor:
        chosen = output if instead is None else instead.to(output.dtype)
        found.append(chosen.detach().requires_grad_() if gradients else chosen)
        return found[-1]

    with output_through(module, change):
        yield


@contextmanager
def computing_in(blocks: Sequence[nn.Module], dtype: torch.dtype) -> Iterator[None]:
    """The blocks' feed-forward layers compute in another number type, their weights staying what they are.

    Attention does not, nor does the first block where there are more, nor what comes after the blocks: rounding there
    costs most of the accuracy, and little of the time is spent there.
    """
    entered: list[torch.autocast] = []

    def enter(enabled: bool) -> Callable:
        def begin(module: nn.Module, _: tuple) -> None:
            device = next(module.parameters()).device.type
            entered.append(torch.autocast(device, dtype=dtype, enabled=enabled))
            entered[-1].__enter__()

        return begin

    def leave(*_: Any) -> None:
        if entered:  # an error may come before a block has begun
            entered.pop().__exit__(None, None, None)

    with ExitStack() as stack:
        for block in blocks[1:] or blocks:
            for module, enabled in ((block, True), *((each, False) for each in _attentions(block))):
                stack.callback(module.register_forward_pre_hook(enter(enabled)).remove)
                stack.callback(module.register_forward_hook(leave, always_call=True).remove)
        try:
            yield
        finally:
            while entered:
                leave()


def _attentions(block: nn.Module) -> list[nn.Module]:
    """What a block's families call attention, attn, self_attn, and the like."""
    return [
        module
        for name, module in block.named_modules()
        if "att" in name.rpartition(".")[2] and next(module.parameters(), None) is not None
    ]


class Enough(Exception):
    """The deepest hidden state that was asked for is there: the rest of the network need not run."""


@contextmanager
def hidden_states(
    blocks: nn.ModuleList,
    found: list[Tensor],
    deepest: int | None,
    layer: int | None = None,
    instead: Tensor | None = None,
) -> Iterator[None]:
    """Fill found with hidden states: the first block's input, then each block's output in the order of their calls.

    In the order of calls, since a network may run one block several times (ALBERT). deepest: the network stops, raising
    `Enough`, when this state is there. instead: what the network reads as the hidden state of that layer, a leaf of the
    graph.
    """

    def keep(state: Tensor) -> Tensor:
        if instead is not None and len(found) == layer:
            state = instead.to(state.dtype).detach().requires_grad_(torch.is_grad_enabled())
        found.append(state)
        if len(found) - 1 == deepest:
            raise Enough
        return state

    def first_input(_: nn.Module, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict] | None:
        if found:
            return None
        state = keep(args[0] if args else kwargs["hidden_states"])
        return ((state, *args[1:]), kwargs) if args else (args, {**kwargs, "hidden_states": state})

    def output_of(_: nn.Module, __: tuple, output: Any) -> Any:
        return (keep(output[0]), *output[1:]) if isinstance(output, tuple) else keep(output)

    with ExitStack() as stack:
        stack.callback(blocks[0].register_forward_pre_hook(first_input, with_kwargs=True).remove)
        for block in blocks:
            stack.callback(block.register_forward_hook(output_of).remove)
        yield
