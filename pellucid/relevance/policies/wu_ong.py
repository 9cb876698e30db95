"""What Wu & Ong's released code does instead of their rules; the method wu_ong_lrp's policy.

Wu & Ong (2021), "On Explaining Your Explanations of BERT"; their code as published (corrections.md A2.3 to A2.7). Here the
gradient itself is the relevance, not its product with the input.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from pellucid.core.foundation.kinds import policies
from pellucid.core.passes.ledger import Ledger
from pellucid.core.passes.module_hooks import Remove, hook_input, hook_output
from pellucid.core.passes.precision import widened
from pellucid.models.families.probes import bert_layers
from pellucid.relevance.affine import Affine
from pellucid.relevance.function_call import FunctionCall
from pellucid.relevance.mode import ChangedBackward, backward_rules

EPSILON = 1e-7


@policies.add(conserves=False, method="wu_ong_lrp")
def wu_ong(ledger: Ledger, network: nn.Module) -> AbstractContextManager:
    """Linear layers pass on sizes without sign; all else has its plain gradient, and each half block has that twice."""
    return _Released().rules(network, ledger)


@dataclass
class _Released:
    """The rules while they are active. plain: whether functions have their plain gradient at the moment. calls: the last call of each module's forward function."""

    plain: bool = False
    calls: dict[nn.Module, FunctionCall] = field(default_factory=dict)

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
                    stack.callback(self._add_plain_gradient(inner, dense))
            yield

    def _unless_plain(self, rule: Callable) -> Callable:
        def unless_plain(mode: ChangedBackward, call: FunctionCall) -> Tensor:
            return call.value() if self.plain else rule(call)

        return unless_plain

    def _remember(self, inner: nn.Module) -> Remove:
        def hook(module: nn.Module, args: tuple, kwargs: dict[str, object]) -> None:
            forward = type(module).forward
            self.calls[module] = FunctionCall(forward, (module, *args), kwargs)

        return hook_input(inner, hook, with_kwargs=True)

    def _add_plain_gradient(self, inner: nn.Module, dense: nn.Module) -> Remove:
        """Add the half block's plain gradient, and nothing to its value, since the released code counts residuals twice."""

        def hook(module: nn.Module, args: tuple, output: Tensor) -> Tensor:
            call = self.calls.pop(inner)
            self.plain = True
            try:
                output_of = call.value()
                inner_states = output_of[0] if isinstance(output_of, tuple) else output_of
                states = type(dense).forward(dense, inner_states)
            finally:
                self.plain = False
            return output + (states - states.detach())

        return hook_output(dense, hook)


def identity(call: FunctionCall) -> Tensor:
    """An activation passes its relevance on unchanged."""
    path = call.paths[0]
    return path + (call.value() - path).detach()


def sizes(call: FunctionCall) -> Tensor:
    """A linear layer passes on sizes without sign, which sum to the relevance that reached it."""
    layer = Affine.of(call)
    if layer is None:  # a product of two factors that depend on the words
        return call.value()
    path = layer.input.view_as(layer.input)
    arrived: list[Tensor] = []
    output = layer.apply(path, layer.weight)
    output = output if layer.bias is None else output + layer.bias
    output.register_hook(arrived.append)  # runs before the hook of its input
    path.register_hook(lambda _: shares(layer, arrived.pop()))
    return output


def shares(layer: Affine, relevance: Tensor) -> Tensor:
    """[like the input]: |x (half by positive weights, half by negative ones)|, scaled to the example's relevance.

    Split by the sign of the weight, so a denominator can come near 0; the bias stays in it and gets no relevance.
    """
    half = [_by_sign(layer, relevance, side) for side in (1, -1)]
    unscaled = (layer.input.detach() * (half[0] + half[1]) / 2).abs()
    dims = tuple(range(1, unscaled.ndim))
    before, after = (widened(of).sum(dims, keepdim=True) + EPSILON for of in (relevance, unscaled))
    return (unscaled * (before / after)).to(layer.input.dtype)


def _by_sign(layer: Affine, relevance: Tensor, side: int) -> Tensor:
    """What every input would get per unit of its value, by its weights of one sign."""
    weight = _of_sign(widened(layer.weight.detach()), side)
    bias = 0.0 if layer.bias is None else _of_sign(widened(layer.bias.detach()), side)
    with torch.enable_grad():
        path = layer.input.detach().to(weight.dtype).requires_grad_()
        below = layer.apply(path, weight)
    ratio = relevance.to(weight.dtype) / (below.detach() + bias + side * EPSILON)
    return torch.autograd.grad(below, path, ratio)[0]


def _of_sign(values: Tensor, side: int) -> Tensor:
    return values.clamp(min=0) if side > 0 else values.clamp(max=0)
