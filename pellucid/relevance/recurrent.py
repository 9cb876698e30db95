"""An LSTM written out: torch's own is one opaque call.

Arras et al. (2017), "Explaining Recurrent Neural Network Predictions in Sentiment Analysis", section 3.2: in a product
of a gate and a signal the signal takes all relevance (LRP-all); a policy may say otherwise.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence
from torch.overrides import handle_torch_function, has_torch_function

from pellucid.core.foundation.errors import ModelCannot


def gated(gate: Tensor, signal: Tensor) -> Tensor:
    """gate * signal, a product whose two factors a policy may treat differently."""
    if has_torch_function((gate, signal)):
        return handle_torch_function(gated, (gate, signal), gate, signal)
    return gate * signal


# What nn.LSTM takes and returns: padded states or a packed sequence; and those with the last hidden state and cell.
Sequences = Tensor | PackedSequence
LSTMOutput = tuple[Sequences, tuple[Tensor, ...]]


def lstm(module: nn.LSTM, args: tuple, output: LSTMOutput) -> LSTMOutput:
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
            outputs, hidden, cell = _Direction.of(module, layer, backward).run(states, lengths, start)
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
    def of(module: nn.LSTM, layer: int, backward: bool) -> "_Direction":
        """The weights of a layer; an LSTM may be without biases."""
        kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        weights = (getattr(module, f"{kind}_l{layer}{'_reverse' * backward}", None) for kind in kinds)
        return _Direction(backward, module.hidden_size, *weights)  # type: ignore[arg-type]

    def run(
        self, states: Tensor, lengths: Tensor, start: list[Tensor | None]
    ) -> tuple[Tensor, Tensor, Tensor]:
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
