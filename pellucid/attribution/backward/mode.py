"""Backward rules: while they are active, the network computes the same values, and gradients follow a policy's rules.

A call of a torch function that the policy has a rule for goes to that rule; every other call runs unchanged. Relevance
is then the plain gradient times the input. The network itself is not changed, and the rules end with the `with`. They
apply only in the thread that entered it.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence
from torch.overrides import TorchFunctionMode, handle_torch_function, has_torch_function

from pellucid.attribution.backward.expanded_functions import OPENED, FunctionCall
from pellucid.base.errors import ModelCannot
from pellucid.run.module_hooks import hook_output
from pellucid.run.policy_pass import Ledger

# (mode, function call) -> the call's value
Rule = Callable[["ChangedBackward", FunctionCall], Tensor]
Rules = Mapping[str, Rule]


class ChangedBackward(TorchFunctionMode):
    """While active, each function's backward pass follows the rule for its kind; the ledger records what constants
    absorb.

    parts: in how many equal parts the rows stand, for rules of texts above their baselines: 2 with one baseline each.
    """

    def __init__(self, rules: Rules, ledger: Ledger, parts: int = 2) -> None:
        super().__init__()
        self.rules = rules
        self.ledger = ledger
        self.parts = parts

    def __torch_function__(
        self, func: Callable[..., Any], types: object, args: tuple[Any, ...] = (), kwargs: dict[Any, Any] | None = None
    ) -> Any:
        constants = {name: constant_weight(arg) for name, arg in (kwargs or {}).items()}
        call = FunctionCall(func, tuple(constant_weight(arg) for arg in args), constants)
        opened = OPENED.get(func) or getattr(func, "written_out", None)
        if opened is not None:  # it hides several functions: run these instead, each meets its rule
            with self:
                return opened(*call.args, **call.kwargs)
        kind = KIND_OF.get(func) or str(getattr(func, "kind", ""))
        rule = self.rules.get(kind)
        if rule is None or not call.paths:
            return call.value()
        self.ledger.treated[kind] += 1
        return rule(self, call)


def constant_weight(arg: object) -> object:
    """A weight as a constant, so that gradients lead to the words only."""
    return arg.detach() if isinstance(arg, nn.Parameter) else arg


@contextmanager
def backward_rules(network: nn.Module, ledger: Ledger, rules: Rules, parts: int = 2) -> Iterator[None]:
    """Inside, the network runs under these rules in this thread; parts: see `ChangedBackward`."""
    mode = ChangedBackward(rules, ledger, parts)
    with treated_whole(network), mode:
        yield


# Modules that count as one function: activations written out by hand, and LSTMs, which torch computes in one call.

REFUSED = (nn.GRU, nn.RNN, nn.GRUCell, nn.RNNCell, nn.LSTMCell)


@contextmanager
def treated_whole(network: nn.Module) -> Iterator[None]:
    """Inside, the active mode sees each such module of the network as one function call, in this thread only."""
    with ExitStack() as stack:
        for module in network.modules():
            replace = _replacement(module)
            if replace is not None:
                stack.callback(hook_output(module, replace))
        yield


def _replacement(module: nn.Module) -> Callable[..., Any] | None:
    if isinstance(module, torch.jit.ScriptModule):
        raise ModelCannot(f"Relevance cannot look into TorchScript ({module.original_name}); give the network itself.")
    if isinstance(module, REFUSED):
        raise ModelCannot(
            f"Relevance has no rule for {type(module).__name__}: it is one opaque call. nn.LSTM has one; or use "
            "integrated_gradients."
        )
    if isinstance(module, nn.LSTM):
        return lstm
    if type(module).__module__ == "transformers.activations" and type(module).__name__ != "LinearActivation":
        return None if _is_one_function(module) else _activation
    return None


def _is_one_function(module: nn.Module) -> bool:
    """Whether an activation is one function of torch that has a rule: then it needs no place of its own."""
    zero = torch.zeros(1)
    with torch.no_grad(), _Calls() as calls:  # innermost: to make a tensor, or to leave out gradients, is a call, too
        type(module).forward(module, zero)
    return len(calls.functions) == 1 and calls.functions[0] in ACTIVATIONS


class _Calls(TorchFunctionMode):
    """Notes which functions of torch are called."""

    def __init__(self) -> None:
        super().__init__()
        self.functions: list[Callable[..., Any]] = []

    def __torch_function__(
        self, func: Callable[..., Any], types: object, args: tuple[Any, ...] = (), kwargs: dict[Any, Any] | None = None
    ) -> Any:
        self.functions.append(func)
        return func(*args, **(kwargs or {}))


@dataclass(frozen=True)
class Whole:
    """An activation module as one function of its input."""

    module: nn.Module
    kind: str = "activation"

    def __call__(self, input: Tensor) -> Tensor:
        """What the module computes, without its hooks."""
        return type(self.module).forward(self.module, input)


def _activation(module: nn.Module, args: tuple[Any, ...], output: Tensor) -> Tensor:
    """The activation's output, computed as one function call that the mode sees, as it sees those of torch."""
    return handle_torch_function(Whole(module), args[:1], *args[:1])


# An LSTM written out: torch's own is one opaque call.
#
# Arras et al. (2017), "Explaining Recurrent Neural Network Predictions in Sentiment Analysis", section 3.2: in a
# product of a gate and a signal the signal takes all relevance (LRP-all); a policy may say otherwise.


def gated(gate: Tensor, signal: Tensor) -> Tensor:
    """gate * signal, a product whose two factors a policy may treat differently."""
    if has_torch_function((gate, signal)):
        return handle_torch_function(gated, (gate, signal), gate, signal)
    return gate * signal


# What nn.LSTM takes and returns: padded states or a packed sequence; and those with the last hidden state and cell.
Sequences = Tensor | PackedSequence
LSTMOutput = tuple[Sequences, tuple[Tensor, ...]]


def lstm(module: nn.LSTM, args: tuple[Any, ...], output: LSTMOutput) -> LSTMOutput:
    """What nn.LSTM gives for its arguments, from functions that have rules. Raises `ModelCannot` for projections."""
    if module.proj_size:
        raise ModelCannot("Relevance has no rule for an LSTM with proj_size.")
    states, lengths = _batch_first(module, args[0])
    initial = args[1] if len(args) > 1 and args[1] is not None else (None, None)
    last: list[tuple[Tensor, Tensor]] = []
    for layer in range(module.num_layers):
        directions = []
        for backward in (False, True)[: 1 + module.bidirectional]:
            start = [None if state is None else state[len(last)] for state in initial]
            outputs, hidden, cell = _Direction.of_layer(module, layer, backward).run(states, lengths, start)
            directions.append(outputs)
            last.append((hidden, cell))
        states = torch.cat(directions, -1)
    last_states = (torch.stack(state) for state in zip(*last, strict=True))
    return _in_form_of(args[0], module, states, lengths), tuple(
        state[:, 0] if output[1][0].ndim == 2 else state for state in last_states
    )


def _in_form_of(input: Sequences, module: nn.LSTM, states: Tensor, lengths: Tensor) -> Sequences:
    """[batch position width] in the form of the input: packed, a single row, or with the positions first."""
    if isinstance(input, PackedSequence):
        packed = pack_padded_sequence(states, lengths.cpu(), batch_first=True, enforce_sorted=False)
        return PackedSequence(packed.data, packed.batch_sizes, input.sorted_indices, input.unsorted_indices)
    if input.ndim == 2:
        return states[0]
    return states if module.batch_first else states.transpose(0, 1)


def _batch_first(module: nn.LSTM, input: Sequences) -> tuple[Tensor, Tensor]:
    """[batch position width] and [batch] lengths."""
    if isinstance(input, PackedSequence):
        return pad_packed_sequence(input, batch_first=True)
    states = input[None] if input.ndim == 2 else input if module.batch_first else input.transpose(0, 1)
    return states, torch.full((len(states),), states.shape[1])


@dataclass(frozen=True)
class _Direction:
    """One layer of an LSTM in one direction: its weights by name, the four gates' rows below each other."""

    backward: bool
    width: int
    input_weight: Tensor
    hidden_weight: Tensor
    input_bias: Tensor | None
    hidden_bias: Tensor | None

    @staticmethod
    def of_layer(module: nn.LSTM, layer: int, backward: bool) -> "_Direction":
        """The weights of a layer; an LSTM may be without biases."""
        kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        weights = (getattr(module, f"{kind}_l{layer}{'_reverse' * backward}", None) for kind in kinds)
        return _Direction(backward, module.hidden_size, *weights)  # type: ignore[arg-type]

    def run(self, states: Tensor, lengths: Tensor, start: list[Tensor | None]) -> tuple[Tensor, Tensor, Tensor]:
        """[batch position width] for inputs [batch position input width], with the last hidden state and cell."""
        zeros = states.new_zeros(len(states), self.width)
        hidden, cell = (zeros if state is None else state for state in start)
        mapped = F.linear(states, self.input_weight, self.input_bias)
        outputs: list[Tensor] = [hidden] * states.shape[1]
        positions = range(states.shape[1])
        for position in reversed(positions) if self.backward else positions:
            is_real = (position < lengths).to(states.device)[:, None]
            sums = mapped[:, position] + F.linear(hidden, self.hidden_weight, self.hidden_bias)
            enter, keep, signal, leave = sums.chunk(4, -1)
            new = gated(keep.sigmoid(), cell) + gated(enter.sigmoid(), signal.tanh())
            cell = torch.where(is_real, new, cell)
            hidden = torch.where(is_real, gated(leave.sigmoid(), cell.tanh()), hidden)
            outputs[position] = torch.where(is_real, hidden, torch.zeros_like(hidden))
        return torch.stack(outputs, 1), hidden, cell


# Kinds of torch's functions: a policy needs one rule for all functions of a kind.

# One number in, one number out; f(0) is a number.
ACTIVATIONS = (
    F.gelu, F.silu, F.mish, F.elu, F.celu, F.selu, F.leaky_relu, F.softplus, F.softsign, F.tanhshrink,
    F.relu, torch.relu, Tensor.relu, F.relu6, F.hardtanh, F.hardswish, F.hardsigmoid,
    torch.tanh, Tensor.tanh, F.tanh, torch.sigmoid, Tensor.sigmoid, F.sigmoid, torch.erf, Tensor.erf,
    torch.exp, Tensor.exp, torch.expm1, torch.square, Tensor.square, torch.sqrt, Tensor.sqrt, torch.abs, Tensor.abs,
    torch.clamp, Tensor.clamp, torch.clip, torch.log1p,
)  # fmt: skip
KINDS: dict[str, tuple[Callable[..., Any], ...]] = {
    "activation": ACTIVATIONS,
    "power": (torch.pow, Tensor.pow, Tensor.__pow__),
    "inverse": (torch.rsqrt, Tensor.rsqrt, torch.reciprocal, Tensor.reciprocal),
    "layer_norm": (F.layer_norm, torch.layer_norm),
    "scaling": (F.rms_norm, torch.rms_norm, F.normalize),  # x times something that depends on x
    "batch_norm": (F.batch_norm, torch.batch_norm),
    "softmax": (F.softmax, torch.softmax, Tensor.softmax),
    "attention": (F.scaled_dot_product_attention,),
    "linear": (F.linear, torch.addmm, F.conv1d, F.conv2d, torch.conv1d, torch.conv2d),
    "product": (
        torch.mul, torch.multiply, Tensor.mul, Tensor.mul_, Tensor.__mul__, Tensor.__rmul__, Tensor.__imul__,
        torch.matmul, Tensor.matmul, Tensor.__matmul__, Tensor.__rmatmul__, torch.bmm, Tensor.bmm, torch.mm, Tensor.mm,
        torch.einsum, torch.mv, Tensor.mv, torch.dot, Tensor.dot, torch.outer, F.bilinear,
    ),
    "quotient": (
        torch.div, torch.divide, torch.true_divide, Tensor.div, Tensor.divide, Tensor.true_divide, Tensor.div_,
        Tensor.__truediv__, Tensor.__rtruediv__, Tensor.__itruediv__,
    ),
    "sum": (
        torch.add, torch.sub, torch.subtract, torch.rsub, Tensor.add, Tensor.sub, Tensor.add_, Tensor.sub_,
        Tensor.__add__, Tensor.__radd__, Tensor.__iadd__, Tensor.__sub__, Tensor.__rsub__, Tensor.__isub__,
    ),
    "choice": (Tensor.__getitem__, torch.index_select, Tensor.index_select),
    "join": (torch.cat, torch.concat, torch.concatenate, torch.stack),
    "maximum": (torch.amax, Tensor.amax),
    "linear_unit": (F.glu,),
    "gate": (gated,),
}  # fmt: skip
KIND_OF = {function: kind for kind, functions in KINDS.items() for function in functions}
