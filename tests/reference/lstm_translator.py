"""A translator of LSTMs written out: one piece and one place at a time, for one pair of texts.

Hochreiter and Schmidhuber (1997), "Long Short-Term Memory", as torch's LSTM has it; Luong et al. (2015), equations 5
and 8.
"""

import torch


def step(lstm, vector, hidden, cell, ending=""):
    """The next hidden and cell state; gates in torch's order: in, forget, new, out."""
    weights = {name: getattr(lstm, f"{name}_l0{ending}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}
    gates = weights["weight_ih"] @ vector + weights["bias_ih"] + weights["weight_hh"] @ hidden + weights["bias_hh"]
    take, forget, new, show = gates.chunk(4)
    cell = forget.sigmoid() * cell + take.sigmoid() * new.tanh()
    return show.sigmoid() * cell.tanh(), cell


def one_way(lstm, vectors, ending=""):
    size = lstm.hidden_size
    hidden, cell, states = torch.zeros(size), torch.zeros(size), []
    for vector in vectors:
        hidden, cell = step(lstm, vector, hidden, cell, ending)
        states.append(hidden)
    return states


def encoded(network, source):
    """A state for each piece of the source."""
    states = [network.shared.weight[piece] for piece in source]
    for layer in network.encoder.layers:
        there = one_way(layer.lstm, states)
        back = one_way(layer.lstm, states[::-1], "_reverse")[::-1]
        states = [torch.cat(both) for both in zip(there, back, strict=True)]
    return states


def decoded(network, source, target):
    """The state after each piece of the target, before the layer of spans; target: with the first token."""
    read, decoder = encoded(network, source), network.decoder
    mean = sum(read) / len(read)
    begin = decoder.beginning(mean).tanh().chunk(2 * len(decoder.layers))
    hidden, cell = list(begin[: len(decoder.layers)]), list(begin[len(decoder.layers) :])
    states = []
    for piece in target:
        vector = network.shared.weight[piece]
        for number, layer in enumerate(decoder.layers):
            hidden[number], cell[number] = step(layer, vector, hidden[number], cell[number])
            if number == 0:
                vector = attended(decoder.attention, hidden[0], read)
            else:
                vector = vector + hidden[number]
        states.append(vector)
    return torch.stack(states)


def attended(attention, state, read):
    scores = torch.stack([state @ (attention.key.weight @ one) for one in read])
    seen = sum(weight * one for weight, one in zip(scores.softmax(0), read, strict=True))
    return torch.tanh(attention.joined.weight @ torch.cat([seen, state]) + attention.joined.bias)
