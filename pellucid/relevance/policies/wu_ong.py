"""What Wu & Ong's released code does instead of their rules; the method wu_ong_lrp's policy.

Wu & Ong (2021), "On Explaining Your Explanations of BERT"; their code as published (corrections.md A2.3 to A2.7). Here the
gradient itself is the relevance, not its product with the input.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from pellucid.core.foundation.kinds import policies
from pellucid.core.passes.ledger import Ledger
from pellucid.core.passes.module_hooks import Remove, hook_input, hook_output
from pellucid.core.passes.precision import widened
from pellucid.models.families.probes import bert_layers
from pellucid.relevance.affine import Affine
from pellucid.relevance.mode import ChangedBackward, backward_rules, paths

EPSILON = 1e-7


@policies.add(conserves=False, method="wu_ong_lrp")
def wu_ong(ledger: Ledger, network: nn.Module) -> AbstractContextManager:
    """Linear layers hand down sizes; attention, norms and residuals their plain gradient, and each half block one besides."""
    return _Released().rules(network, ledger)


@dataclass
class _Released:
    """plain: whether functions have their plain gradient just now. seen: what modules were last called with."""

    plain: bool = False
    seen: dict[nn.Module, tuple[tuple, dict[str, Any]]] = field(default_factory=dict)

    @contextmanager
    def rules(self, network: nn.Module, ledger: Ledger) -> Iterator[None]:
        """The network runs under these rules, in this thread."""
        own = {"linear": self._unless_plain(sizes), "activation": self._unless_plain(identity)}
        with ExitStack() as stack, backward_rules(network, ledger, own):
            for layer in bert_layers(network):
                halves = (
                    (layer.attention.self, layer.attention.output.dense),
                    (layer.intermediate, layer.output.dense),
                )
                for inner, dense in halves:
                    stack.callback(self._remember(inner))
                    stack.callback(self._again(inner, dense))
            yield

    def _unless_plain(self, rule: Callable) -> Callable:
        def chosen(mode: ChangedBackward, func: Callable, args: tuple, kwargs: dict[str, Any]) -> Tensor:
            return func(*args, **kwargs) if self.plain else rule(func, args, kwargs)

        return chosen

    def _remember(self, inner: nn.Module) -> Remove:
        def hook(module: nn.Module, args: tuple, kwargs: dict[str, Any]) -> None:
            self.seen[module] = args, kwargs

        return hook_input(inner, hook, with_kwargs=True)

    def _again(self, inner: nn.Module, dense: nn.Module) -> Remove:
        """Add the half block's plain gradient, and nothing to its value: the code's residual runs through all of it."""

        def hook(module: nn.Module, args: tuple, output: Tensor) -> Tensor:
            given, named = self.seen.pop(inner)
            self.plain = True
            try:
                found = type(inner).forward(inner, *given, **named)
                states = type(dense).forward(dense, found[0] if isinstance(found, tuple) else found)
            finally:
                self.plain = False
            return output + (states - states.detach())

        return hook_output(dense, hook)


def identity(func: Callable, args: tuple, kwargs: dict[str, Any]) -> Tensor:
    """An activation hands its relevance down as it is."""
    path = paths(args, kwargs)[0]
    return path + (func(*args, **kwargs) - path).detach()


def sizes(func: Callable, args: tuple, kwargs: dict[str, Any]) -> Tensor:
    """A linear layer hands down sizes that sum to what it got."""
    layer = Affine.of(func, args, kwargs)
    if layer is None:  # two factors that lead back
        return func(*args, **kwargs)
    given = layer.input.view_as(layer.input)
    arrived: list[Tensor] = []
    output = layer.apply(given, layer.weight)
    output = output if layer.bias is None else output + layer.bias
    output.register_hook(arrived.append)  # before the hook of what it was made of
    given.register_hook(lambda _: shares(layer, arrived.pop()))
    return output


def shares(layer: Affine, relevance: Tensor) -> Tensor:
    """[like the input]: |x (half by positive weights, half by negative ones)|, scaled to the example's relevance.

    Split by the sign of the weight, where a denominator can come near 0; the bias stays in it and keeps nothing.
    """
    half = [_by_sign(layer, relevance, side) for side in (1, -1)]
    found = (layer.input.detach() * (half[0] + half[1]) / 2).abs()
    each = tuple(range(1, found.ndim))
    begun, handed = (widened(of).sum(each, keepdim=True) + EPSILON for of in (relevance, found))
    return (found * (begun / handed)).to(layer.input.dtype)


def _by_sign(layer: Affine, relevance: Tensor, side: int) -> Tensor:
    """What every input would get per unit, by its weights of one sign."""
    weight = _of_sign(widened(layer.weight.detach()), side)
    bias = 0.0 if layer.bias is None else _of_sign(widened(layer.bias.detach()), side)
    with torch.enable_grad():
        given = layer.input.detach().to(weight.dtype).requires_grad_()
        below = layer.apply(given, weight)
    ratio = relevance.to(weight.dtype) / (below.detach() + bias + side * EPSILON)
    return torch.autograd.grad(below, given, ratio)[0]


def _of_sign(values: Tensor, side: int) -> Tensor:
    return values.clamp(min=0) if side > 0 else values.clamp(max=0)
