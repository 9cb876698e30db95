"""Backward rules of relevance, a policy each."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from pellucid.attribution.backward.expanded_functions import FunctionCall, open_attention
from pellucid.attribution.backward.mode import ChangedBackward, backward_rules
from pellucid.attribution.backward.pairs import RESCALE
from pellucid.attribution.backward.rules import COMMON, Affine, linear, times_ratio
from pellucid.base.checks import at_least, one_of
from pellucid.base.kinds import policies
from pellucid.models.families.probes import bert_layers
from pellucid.run.module_hooks import Remove, hook_input, hook_output
from pellucid.run.policy_pass import Ledger
from pellucid.run.rounding import widened


@policies.add(conserves=True)
def epsilon(ledger: Ledger, network: nn.Module, *, epsilon: float = 1e-6) -> AbstractContextManager[Any]:
    """Inputs of a linear layer share in proportion to their contributions; near 0, outputs lose relevance to a
    stabiliser.

    CP, with a stabiliser in the denominator of every linear layer.

    Source: Bach et al. (2015), "On Pixel-Wise Explanations for Non-Linear Classifier Decisions by
    Layer-Wise Relevance Propagation", equation 58.

    epsilon: the stabiliser, added to each output with the output's sign.
    """
    at_least("epsilon", epsilon, 0)

    def stabilised(mode: ChangedBackward, call: FunctionCall) -> Tensor:
        output = linear(mode, call)
        if Affine.from_call(call) is None:
            return output
        absorbed = epsilon / (output.detach().abs() + epsilon)
        same_value = output * (1 - absorbed) + (output * absorbed).detach()
        return mode.ledger.note(same_value, output * absorbed, "rule")

    return backward_rules(network, ledger, {**COMMON, "linear": stabilised})


@policies.add(conserves=True)
def alpha_beta(ledger: Ledger, network: nn.Module, *, alpha: float = 0.5) -> AbstractContextManager[Any]:
    """Positive contributions to an output share alpha of its relevance, negative ones beta = 1 - alpha.

    CP, in which positive and negative contributions to a linear layer share separately.

    Source: Bach et al. (2015), "On Pixel-Wise Explanations for Non-Linear Classifier Decisions by
    Layer-Wise Relevance Propagation", equation 60; as Wu & Ong (2021) write it, split by the sign of
    the contribution (corrections.md A2.3).

    alpha: any number; 0.5 as Wu & Ong, 1 for positive contributions alone, 2 as Bach et al. Above 1, relevance
    grows from layer to layer before it cancels. An output whose contributions have one sign gives them all its
    relevance.
    """

    def split(mode: ChangedBackward, call: FunctionCall) -> Tensor:
        layer = Affine.from_call(call)
        return linear(mode, call) if layer is None else _split(layer, mode.ledger, alpha)

    return backward_rules(network, ledger, {**COMMON, "linear": split})


def _split(layer: Affine, ledger: Ledger, alpha: float) -> Tensor:
    """The output as the sum of its parts, each times a constant that gives it its share."""
    parts = _contributions(layer)
    if layer.bias is not None:
        biases = layer.bias.clamp(min=0), layer.bias.clamp(max=0)
        parts = [ledger.note(part + bias, bias) for part, bias in zip(parts, biases, strict=True)]
    up, down = parts
    output = (up + down).detach()
    share = torch.where(down == 0, 1.0, torch.where(up == 0, 0.0, alpha))
    return times_ratio(up, share * output) + times_ratio(down, (1 - share) * output)


def _contributions(layer: Affine) -> list[Tensor]:
    """Each output's positive contributions, and its negative ones."""
    above, below = layer.input.clamp(min=0), layer.input.clamp(max=0)
    more, less = layer.weight.clamp(min=0), layer.weight.clamp(max=0)
    return [
        layer.apply(above, more) + layer.apply(below, less),
        layer.apply(above, less) + layer.apply(below, more),
    ]


@policies.add(conserves=True, method="deep_lift_shap")
def rescale(ledger: Ledger, network: nn.Module, *, n_baselines: int = 1) -> AbstractContextManager[Any]:
    """Multipliers instead of gradients; multiplier x difference from the baseline sums to the difference of the
    outputs.

    DeepLIFT's rescale rule, for texts that run above their baselines in one batch; the method
    deep_lift_shap's policy.

    Source: Shrikumar et al. (2017), "Learning Important Features Through Propagating Activation
    Differences".

    n_baselines: how many baselines each text has; all texts stand first, then their first baselines, and so on.
    """
    return backward_rules(network, ledger, RESCALE, 1 + n_baselines)


Activation = Literal["pass", "gradient"]


@policies.add(conserves=True)
def cp(ledger: Ledger, network: nn.Module, *, activation: Activation = "pass") -> AbstractContextManager[Any]:
    """Conservative propagation: relevance reaches a word through the values that attention mixes.

    Attention weights and the deviations in norms are constants; all other inputs share in proportion.

    Source: Ali et al. (2022), "XAI for Transformers: Better Explanations through Conservative
    Propagation", section 4.

    activation: "pass" hands relevance through an activation unchanged, whatever its derivative (Wu & Ong 2021, appendix
    A); "gradient" multiplies it by derivative times input, as gradient x input does, so that a GELU, which is not
    monotone, can turn its sign, and relevance is not conserved.
    """
    one_of("activation", activation, get_args(Activation))
    rules = dict(COMMON)
    if activation == "gradient":
        del rules["activation"]
    return backward_rules(network, ledger, rules)


@policies.add(conserves=False)
def attnlrp(ledger: Ledger, network: nn.Module) -> AbstractContextManager[Any]:
    """Half of the attention output's relevance goes to the values, half to the weights; the softmax absorbs a part of
    it.

    Attention's weights carry relevance too, through a first-order softmax and half of each product.

    Source: Achtibat et al. (2024), "AttnLRP: Attention-Aware Layer-Wise Relevance Propagation for
    Transformers", propositions 3.1 (softmax), 3.3 (products) and 3.4 (norms).
    """
    return backward_rules(network, ledger, {**COMMON, "softmax": first_order, "attention": opened})


def first_order(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """The softmax s(x) as J x + (s - J x), the plain gradient and a constant; s - J x = s (1 - x + sum of s x)."""
    scores, output = call.args[0].detach(), call.value()
    weights = output.detach()
    finite = scores.masked_fill(weights == 0, 0.0).to(weights.dtype)  # else minus infinity times 0
    dim = call.argument("dim", 1)
    mean = (weights * finite).sum(dim, keepdim=True)
    # A copy, since the softmax needs its own output in its backward.
    return mode.ledger.note(output.clone(), weights * (1 - finite + mean), "rule")


def opened(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """Fused attention written out, so that its products and its softmax meet their rules."""
    with mode:
        return open_attention(*call.args, **call.kwargs)


EPSILON = 1e-7


@policies.add(conserves=False, method="wu_ong_lrp")
def wu_ong(ledger: Ledger, network: nn.Module) -> AbstractContextManager[Any]:
    """Linear layers pass on sizes without sign; all else has its plain gradient, and each half block has that twice.

    What Wu & Ong's released code does instead of their rules; the method wu_ong_lrp's policy.

    Source: Wu & Ong (2021), "On Explaining Your Explanations of BERT"; their code as published
    (corrections.md A2.3 to A2.7). Here the gradient itself is the relevance, not its product with the
    input.
    """
    return _Released().rules(network, ledger)


@dataclass
class _Released:
    """The rules while they are active. plain: whether functions have their plain gradient at the moment. calls: the
    last call of each module's forward function.
    """

    plain: bool = False
    calls: dict[nn.Module, FunctionCall] = field(default_factory=dict)

    @contextmanager
    def rules(self, network: nn.Module, ledger: Ledger) -> Iterator[None]:
        """The network runs under these rules, in this thread."""
        rules = {"linear": self._unless_plain(sizes), "activation": self._unless_plain(identity)}
        with ExitStack() as stack, backward_rules(network, ledger, rules):
            for layer in bert_layers(network):
                halves = (
                    (layer.attention.self, layer.attention.output.dense),
                    (layer.intermediate, layer.output.dense),
                )
                for inner, dense in halves:
                    stack.callback(self._remember(inner))
                    stack.callback(self._add_plain_gradient(inner, dense))
            yield

    def _unless_plain(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        def unless_plain(mode: ChangedBackward, call: FunctionCall) -> Tensor:
            return call.value() if self.plain else rule(call)

        return unless_plain

    def _remember(self, inner: nn.Module) -> Remove:
        def hook(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, object]) -> None:
            forward = type(module).forward
            self.calls[module] = FunctionCall(forward, (module, *args), kwargs)

        return hook_input(inner, hook, with_kwargs=True)

    def _add_plain_gradient(self, inner: nn.Module, dense: nn.Module) -> Remove:
        """Add the half block's plain gradient, and nothing to its value, since the released code counts residuals
        twice.
        """

        def hook(module: nn.Module, args: tuple[Any, ...], output: Tensor) -> Tensor:
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
    layer = Affine.from_call(call)
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
    before, after = (widened(values).sum(dims, keepdim=True) + EPSILON for values in (relevance, unscaled))
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
