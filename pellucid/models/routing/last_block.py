"""The last block of an encoder whose head reads the first position alone: there only that position is computed.

Keys and values are those of all positions; the query, all that follows attention, and their gradients are those of the
first. Of six blocks that is a seventh of a pass. Whether a head reads no other position is seen by a route's trial.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.modules import module as torch_modules
from torch.overrides import TorchFunctionMode

from pellucid.run.module_hooks import Remove, hook_input, hook_output, is_foreign_watched

READ = "read"  # the keyword of a composed network's forward: how its encoder's states are computed
GLOBAL_HOOKS = tuple(f"_global_{kind}_hooks" for kind in ("forward", "forward_pre", "backward", "backward_pre"))
# In a block: what attends, its layer of queries, and the first module after the heads are put together again.
PLACES = (
    ("attention.self", "attention.self.query", "attention.output"),  # BERT, RoBERTa, ELECTRA, XLM-R and their kin
    ("attention", "attention.q_lin", "sa_layer_norm"),  # DistilBERT
)


@dataclass(frozen=True, eq=False)
class LastBlock:
    """The last block of a network. attention: what attends in it. query: its linear layer of queries; after: what gets
    the attended values, and perhaps the block's input.
    """

    network: nn.Module
    attention: nn.Module
    query: nn.Module
    after: nn.Module

    @contextmanager
    def at_first_position(self) -> Iterator[None]:
        """Compute the block so in this thread; nothing is changed while somebody else sees or changes the network."""
        if is_changed(self.network):
            yield
            return
        first = _FirstQuery()
        with ExitStack() as stack:
            stack.callback(first.end)  # an interruption calls no hook
            for remove in self._hooks(first):
                stack.callback(remove)
            yield

    def _hooks(self, first: _FirstQuery) -> Iterator[Remove]:
        yield hook_input(self.attention, first.begin)
        yield hook_output(self.attention, first.end, always_call=True)
        yield hook_input(self.query, first.alone)
        yield hook_output(self.query, first.repeated)
        yield hook_input(self.after, _first_of_all)


def is_changed(network: nn.Module) -> bool:
    """Whether somebody else's hook is anywhere in the network, or a module has a forward of its own: these may read
    any position.
    """
    if any(getattr(torch_modules, name) for name in GLOBAL_HOOKS):
        return True
    return any(
        is_foreign_watched(module) or module._backward_hooks or module._backward_pre_hooks or "forward" in vars(module)
        for module in network.modules()
    )


@dataclass
class _FirstQuery:
    """One call of a block's attention, which expects as many queries as positions, and gets the first so many times."""

    length: int = field(default=0)
    mode: _OneQuery | None = field(default=None)

    def begin(self, _: nn.Module, inputs: object) -> None:
        """Before attention."""
        self.mode = _OneQuery()
        self.mode.__enter__()

    def end(self, *call: object) -> None:
        """After it, also where it failed; once more changes nothing."""
        if self.mode is not None:
            self.mode.__exit__(None, None, None)
            self.mode = None

    def alone(self, _: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Before the layer of queries: the first position's states alone."""
        self.length = inputs[0].shape[1]
        return _first_of_all(_, inputs)

    def repeated(self, _: nn.Module, __: tuple[Any, ...], output: Tensor) -> Tensor:
        """After it: as many queries as the block expects, without a copy."""
        return output.expand(-1, self.length, -1)


class _OneQuery(TorchFunctionMode):
    """PyTorch's attention by the first of equal queries, whose values then stand for all."""

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """The function's answer."""
        settings = dict(kwargs or {})
        mask = settings.get("attn_mask")
        if function is not F.scaled_dot_product_attention or len(args) != 3 or settings.get("is_causal"):
            return function(*args, **settings)
        queries, keys, values = args
        if mask is not None and mask.shape[-2] > 1:
            settings["attn_mask"] = mask[..., :1, :]
        attended: Tensor = function(queries[..., :1, :], keys, values, **settings)
        return attended.expand(*queries.shape[:-1], -1)


def _first_of_all(_: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The first position of tensors [row position width]."""
    return tuple(
        each[:, :1] if isinstance(each, Tensor) and each.ndim == 3 and torch.is_floating_point(each) else each
        for each in inputs
    )


def last_block(network: nn.Module) -> LastBlock | None:
    """The last block of the network's one list of blocks that are built so; None where there is none, or several.

    None also for a network that Pellucid composes, whose pooler and joined windows may read all states, and for one
    that somebody watches now: its trial would say nothing of later passes.
    """
    if READ in inspect.signature(network.forward).parameters or is_changed(network):
        return None
    lists = [module for module in network.modules() if isinstance(module, nn.ModuleList) and len(module)]
    blocks = [block for block in (_parts_of(network, each[-1]) for each in lists) if block is not None]
    return blocks[0] if len(blocks) == 1 else None


def _parts_of(network: nn.Module, block: nn.Module) -> LastBlock | None:
    modules = dict(block.named_modules())
    for attention, query, after in PLACES:
        if isinstance(modules.get(query), nn.Linear) and after in modules:
            return LastBlock(network, modules[attention], modules[query], modules[after])
    return None
