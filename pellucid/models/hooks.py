"""Looking inside a running network, and leaving it as it was: everything here ends with its `with`."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode


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


class Enough(Exception):
    """The deepest hidden state that was asked for is there: the rest of the network need not run."""


@contextmanager
def hidden_states(blocks: nn.ModuleList, found: list[Tensor], deepest: int | None) -> Iterator[None]:
    """Fill found with hidden states: the first block's input, then each block's output in the order of their calls.

    In the order of calls, since a network may run one block several times (ALBERT). deepest: the network stops, raising
    `Enough`, when this state is there.
    """

    def keep(state: Tensor) -> None:
        found.append(state)
        if len(found) - 1 == deepest:
            raise Enough

    def first_input(_: nn.Module, args: tuple, kwargs: dict[str, Any]) -> None:
        if not found:
            keep(args[0] if args else kwargs["hidden_states"])

    def output_of(_: nn.Module, __: tuple, output: Any) -> None:
        keep(output[0] if isinstance(output, tuple) else output)

    with ExitStack() as stack:
        stack.callback(blocks[0].register_forward_pre_hook(first_input, with_kwargs=True).remove)
        for block in blocks:
            stack.callback(block.register_forward_hook(output_of).remove)
        yield


class RecordedAttention(TorchFunctionMode):
    """While active, computes attention openly and keeps each block's weights [example head query key].

    Works on fused attention (scaled_dot_product_attention) and on attention written out with a softmax,
    without switching the model's implementation, which models of one configuration share.
    """

    def __init__(self) -> None:
        super().__init__()
        self.weights: list[Tensor] = []

    def __torch_function__(
        self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func is F.scaled_dot_product_attention:
            return self._open(*args, **kwargs)
        output = func(*args, **kwargs)
        if (
            func in (F.softmax, torch.softmax, Tensor.softmax)
            and output.ndim == 4
            and output.shape[-1] == output.shape[-2]
        ):
            self.weights.append(output.detach())
        return output

    def _open(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Tensor:
        if enable_gqa:
            groups = query.shape[1] // key.shape[1]
            key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
        scores = query @ key.transpose(-1, -2) * (query.shape[-1] ** -0.5 if scale is None else scale)
        if is_causal:
            later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
            scores = scores.masked_fill(later, float("-inf"))
        if attn_mask is not None:
            scores = (
                scores.masked_fill(~attn_mask, float("-inf"))
                if attn_mask.dtype == torch.bool
                else scores + attn_mask
            )
        # A row whose keys are all masked (a padded query) would be nan; its weights are 0.
        weights = scores.softmax(-1).nan_to_num(0.0)
        self.weights.append(weights.detach())
        return weights @ value
