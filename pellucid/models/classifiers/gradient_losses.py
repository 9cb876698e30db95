"""Where a gradient is lost on its way from a network's answer to its words: in quantised layers, and under `no_grad` of the network's own.

Where only some layers lose it, autograd goes around them and gives a gradient without a word of warning; it is that of another network. So
each module is asked, while the network reads a short text with a graph, whether the graph leads from what it gave to all that it read.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import torch
from torch import Tensor, nn
from torch.autograd.graph import Node, get_gradient_edge
from torch.utils._pytree import tree_leaves, tree_map

from pellucid.core.passes.module_hooks import hook_output

UNWRITTEN = "NotImplemented"  # in the name of a node of torch that stands in the graph and gives no gradient, as of quantised products
FAILURES = (
    RuntimeError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
)  # of a module that is run by itself


@contextmanager
def losses(network: nn.Module) -> Iterator[list[str]]:
    """Fill a list, while this thread runs the network with a graph, with the modules in which the gradient ends, innermost first."""
    lost: list[str] = []
    again: list[nn.Module] = []  # the module that is run once more, and its own modules with it

    def watch(place: str) -> Callable:
        def note(module: nn.Module, args: tuple, kwargs: dict[str, object], output: object) -> None:
            gives = _numbers(output)
            if again or lost or not gives:
                return
            again.append(module)
            try:
                if any(_depends(module, args, kwargs, gives, one) for one in _unreached(args, kwargs, gives)):
                    lost.append(f"{place} ({type(module).__name__})" if place else type(module).__name__)
            finally:
                again.clear()

        return note

    with ExitStack() as stack:
        for place, module in network.named_modules():
            if not isinstance(module, torch.jit.ScriptModule):
                stack.callback(hook_output(module, watch(place), with_kwargs=True))
        yield lost


def _numbers(values: object) -> list[Tensor]:
    """All tensors of floating-point numbers in nested values."""
    return [each for each in tree_leaves(values) if isinstance(each, Tensor) and each.is_floating_point()]


def _unreached(args: tuple, kwargs: dict[str, object], gives: Sequence[Tensor]) -> list[Tensor]:
    """What a module read that a gradient should reach, and to which no way leads from what it gave."""
    reads = {get_gradient_edge(each).node: each for each in _numbers((args, kwargs)) if each.requires_grad}
    open_nodes: list[Node] = [get_gradient_edge(each).node for each in gives if each.requires_grad]
    seen = set(open_nodes)
    while open_nodes and reads:
        node = open_nodes.pop()
        reads.pop(node, None)
        if UNWRITTEN in node.name():
            continue
        following = {later for later, _ in node.next_functions if later is not None} - seen
        seen |= following
        open_nodes += following
    return list(reads.values())


def _depends(
    module: nn.Module, args: tuple, kwargs: dict[str, object], gives: Sequence[Tensor], read: Tensor
) -> bool:
    """Whether a module answers otherwise to other numbers in one of its inputs: of some it reads no more than the shape or the type."""

    def moved(value: object) -> object:
        if value is read:
            return read.detach().flip(-1) * 1.25  # a norm tells these apart too
        return value.detach() if isinstance(value, Tensor) else value

    with torch.no_grad():
        try:
            answers = _numbers(module.forward(*tree_map(moved, args), **tree_map(moved, kwargs)))
        except FAILURES:
            return True
    if len(answers) != len(gives):
        return True
    return not all(torch.equal(one, two) for one, two in zip(gives, answers, strict=True))
