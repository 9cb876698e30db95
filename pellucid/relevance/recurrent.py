"""An LSTM written out: torch's own is one opaque call.

Arras et al. (2017), "Explaining Recurrent Neural Network Predictions in Sentiment Analysis", section 3.2: in a product
of a gate and a signal the signal takes all relevance (LRP-all); a policy may say otherwise.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence
from torch.overrides import handle_torch_function, has_torch_function

from pellucid.core.foundation.errors import ModelCannot


def gated(gate: Tensor, signal: Tensor) -> Tensor:
    """gate * signal, where a policy may treat the two unlike."""
    if has_torch_function((gate, signal)):
        return handle_torch_function(gated, (gate, signal), gate, signal)
    return gate * signal


def lstm(module: nn.LSTM, args: tuple, output: Any) -> Any:
    """What nn.LSTM gives for its arguments, from functions that have rules. Raises `ModelCannot` for projections."""
    if module.proj_size:
        raise ModelCannot("Relevance has no rule for an LSTM with proj_size.")
    states, lengths = _batch_first(module, args[0])
    begin = args[1] if len(args) > 1 and args[1] is not None else (None, None)
    ends: list[tuple[Tensor, Tensor]] = []
    for layer in range(module.num_layers):
        ways = []
        for backward in (False, True)[: 1 + module.bidirectional]:
            start = [None if held is None else held[len(ends)] for held in begin]
            told, hidden, cell = _one_way(module, layer, backward, states, lengths, start)
            ways.append(told)
            ends.append((hidden, cell))
        states = torch.cat(ways, -1)
    last = tuple(torch.stack(held) for held in zip(*ends, strict=True))
    return _as_given(module, args[0], states, lengths), tuple(
        held[:, 0] if output[1][0].ndim == 2 else held for held in last
    )


def _as_given(module: nn.LSTM, given: Any, states: Tensor, lengths: Tensor) -> Any:
    """[batch place width] in the form of the input: packed, a single row, or with the places first."""
    if isinstance(given, PackedSequence):
        packed = pack_padded_sequence(states, lengths.cpu(), batch_first=True, enforce_sorted=False)
        return PackedSequence(packed.data, packed.batch_sizes, given.sorted_indices, given.unsorted_indices)
    if given.ndim == 2:
        return states[0]
    return states if module.batch_first else states.transpose(0, 1)


def _batch_first(module: nn.LSTM, given: Any) -> tuple[Tensor, Tensor]:
    """[batch place width] and [batch] lengths."""
    if isinstance(given, PackedSequence):
        return pad_packed_sequence(given, batch_first=True)
    states = given[None] if given.ndim == 2 else given if module.batch_first else given.transpose(0, 1)
    return states, torch.full((len(states),), states.shape[1])


def _one_way(
    module: nn.LSTM, layer: int, backward: bool, states: Tensor, lengths: Tensor, start: list[Tensor | None]
) -> tuple[Tensor, Tensor, Tensor]:
    """[batch place width] of one layer in one direction, with its last hidden state and cell."""
    names = [
        f"{kind}_l{layer}{'_reverse' * backward}" for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    ]
    from_input, from_hidden, bias, other = (getattr(module, name, None) for name in names)  # biases may lack
    assert from_input is not None and from_hidden is not None
    hidden, cell = (
        states.new_zeros(len(states), module.hidden_size) if held is None else held for held in start
    )
    mapped = F.linear(states, from_input, bias)
    told: list[Tensor] = [hidden] * states.shape[1]
    places = range(states.shape[1])
    for place in reversed(places) if backward else places:
        real = (place < lengths).to(states.device)[:, None]
        sums = mapped[:, place] + F.linear(hidden, from_hidden, other)
        enter, keep, signal, leave = sums.chunk(4, -1)
        new = gated(keep.sigmoid(), cell) + gated(enter.sigmoid(), signal.tanh())
        cell = torch.where(real, new, cell)
        hidden = torch.where(real, gated(leave.sigmoid(), cell.tanh()), hidden)
        told[place] = torch.where(real, hidden, torch.zeros_like(hidden))
    return torch.stack(told, 1), hidden, cell
