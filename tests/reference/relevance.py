"""LRP written out slowly and literally: relevance is handed down layer by layer, one message a contribution.

Nothing of ours runs here and no gradient is taken: each layer's inputs are recorded on the way up, and on the way down
R_i = sum over j of z_ij / z_j R_j, with z_ij what input i contributes to output j.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

Shares = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def epsilon_rule(epsilon: float = 0.0) -> Shares:
    """Bach et al., equation 58. x: [i], weight: [j i], bias: [j], relevance: [j] -> [i]."""

    def share(x: Tensor, weight: Tensor, bias: Tensor, relevance: Tensor) -> Tensor:
        contributions = torch.einsum("i,ji->ij", x, weight)
        outputs = contributions.sum(0) + bias
        stabilised = outputs + epsilon * outputs.sign()
        return torch.einsum("ij,j->i", contributions / stabilised, relevance)

    return share


def alpha_beta_rule(alpha: float) -> Shares:
    """Bach et al., equation 60: positive and negative contributions apart, the bias among them."""

    def share(x: Tensor, weight: Tensor, bias: Tensor, relevance: Tensor) -> Tensor:
        contributions = torch.einsum("i,ji->ij", x, weight)
        up, down = contributions.clamp(min=0), contributions.clamp(max=0)
        all_up, all_down = up.sum(0) + bias.clamp(min=0), down.sum(0) + bias.clamp(max=0)
        return torch.einsum("ij,j->i", alpha * up / all_up + (1 - alpha) * down / all_down, relevance)

    return share


class Layer:
    """A linear layer at every position, which remembers its input."""

    def __init__(self, module, share: Shares) -> None:
        self.weight, self.bias, self.share = module.weight.detach(), module.bias.detach(), share

    def up(self, x: Tensor) -> Tensor:
        self.x = x
        return torch.einsum("li,ji->lj", x, self.weight) + self.bias

    def down(self, relevance: Tensor) -> Tensor:
        pairs = zip(self.x, relevance, strict=True)
        return torch.stack([self.share(x, self.weight, self.bias, of) for x, of in pairs])


class Norm:
    """LayerNorm with a constant deviation: then it is a linear layer of (identity - mean) x gain / deviation."""

    def __init__(self, module) -> None:
        self.gain, self.bias, self.eps = module.weight.detach(), module.bias.detach(), module.eps

    def up(self, x: Tensor) -> Tensor:
        self.x, width = x, x.shape[-1]
        self.deviation = (x.var(-1, correction=0) + self.eps).sqrt()
        self.centring = torch.eye(width, dtype=x.dtype) - 1 / width
        return torch.einsum("li,ij,j,l->lj", x, self.centring, self.gain, 1 / self.deviation) + self.bias

    def down(self, relevance: Tensor) -> Tensor:
        contributions = torch.einsum("li,ij,j,l->lij", self.x, self.centring, self.gain, 1 / self.deviation)
        outputs = contributions.sum(1) + self.bias
        return torch.einsum("lij,lj->li", contributions, relevance / outputs)


class Attention:
    """Values mixed with constant weights."""

    def __init__(self, module, share: Shares) -> None:
        inner = module.self
        self.query, self.key, self.value = (Layer(part, share) for part in (inner.query, inner.key, inner.value))
        self.heads = inner.num_attention_heads

    def split(self, states: Tensor) -> Tensor:
        return states.reshape(len(states), self.heads, -1)

    def up(self, x: Tensor) -> Tensor:
        query, key = self.split(self.query.up(x)), self.split(self.key.up(x))
        self.values = self.split(self.value.up(x))
        scores = torch.einsum("qhd,khd->hqk", query, key) / query.shape[-1] ** 0.5
        self.weights = scores.softmax(-1)
        self.mixed = torch.einsum("hqk,khd->qhd", self.weights, self.values)
        return self.mixed.flatten(1)

    def down(self, relevance: Tensor) -> Tensor:
        contributions = torch.einsum("hqk,khd->qkhd", self.weights, self.values)
        at_values = torch.einsum("qkhd,qhd->khd", contributions, self.split(relevance) / self.mixed)
        return self.value.down(at_values.flatten(1))


class Block:
    """One block of BERT."""

    def __init__(self, module, share: Shares) -> None:
        self.attention = Attention(module.attention, share)
        self.out = Layer(module.attention.output.dense, share)
        self.norm = Norm(module.attention.output.LayerNorm)
        self.wide = Layer(module.intermediate.dense, share)
        self.narrow = Layer(module.output.dense, share)
        self.last_norm = Norm(module.output.LayerNorm)

    def up(self, x: Tensor) -> Tensor:
        self.x = x
        self.attended = self.out.up(self.attention.up(x))
        self.middle = self.norm.up(x + self.attended)
        self.answer = self.narrow.up(F.gelu(self.wide.up(self.middle)))
        return self.last_norm.up(self.middle + self.answer)

    def down(self, relevance: Tensor) -> Tensor:
        at_middle, at_answer = split_sum(self.middle, self.answer, self.last_norm.down(relevance))
        # the activation hands on what it gets
        at_middle = at_middle + self.wide.down(self.narrow.down(at_answer))
        at_x, at_attended = split_sum(self.x, self.attended, self.norm.down(at_middle))
        return at_x + self.attention.down(self.out.down(at_attended))


def split_sum(one: Tensor, other: Tensor, relevance: Tensor) -> tuple[Tensor, Tensor]:
    """Relevance of a sum, in proportion to its terms."""
    return one / (one + other) * relevance, other / (one + other) * relevance


def bert_relevance(network, ids: Tensor, label: int, share: Shares) -> tuple[Tensor, Tensor]:
    """[unit] relevance at the word embeddings, and at the first block's input, of a BertForSequenceClassification.

    ids: [unit]. The rule of linear layers is `share`.
    """
    bert = network.bert
    words = bert.embeddings.word_embeddings.weight.detach()[ids]
    positions = bert.embeddings.position_embeddings.weight.detach()[: len(ids)]
    types = bert.embeddings.token_type_embeddings.weight.detach()[0]
    norm = Norm(bert.embeddings.LayerNorm)
    blocks = [Block(module, share) for module in bert.encoder.layer]
    pooler, head = Layer(bert.pooler.dense, share), Layer(network.classifier, share)
    summed = words + positions + types
    states = norm.up(summed)
    for block in blocks:
        states = block.up(states)
    logits = head.up(pooler.up(states[:1]).tanh())
    relevance = torch.zeros_like(logits)
    relevance[0, label] = logits[0, label]
    first = pooler.down(head.down(relevance))
    at_states = torch.zeros_like(states)
    at_states[:1] = first
    for block in reversed(blocks):
        at_states = block.down(at_states)
    at_sum = norm.down(at_states)
    return (words / summed * at_sum).sum(-1), at_states.sum(-1)


def lstm_relevance(network, ids: Tensor, label: int) -> Tensor:
    """[unit] relevance at the word embeddings of embedding, one-layer nn.LSTM, last state, linear head.

    Arras et al. (2017): in a product of a gate and a signal, the signal gets all relevance.
    """
    share, width = epsilon_rule(), network.lstm.hidden_size
    words = network.embedding.weight.detach()[ids]
    parts = [getattr(network.lstm, f"{name}_l0").detach() for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    from_input, from_hidden, bias = parts[0], parts[1], parts[2] + parts[3]
    hidden, cell, steps = torch.zeros(width).to(words), torch.zeros(width).to(words), []
    for word in words:
        sums = from_input @ word + from_hidden @ hidden + bias
        enter, keep, signal, leave = sums.chunk(4)
        carried, added = keep.sigmoid() * cell, enter.sigmoid() * signal.tanh()
        steps.append((word, hidden, carried, added))
        cell = carried + added
        hidden = leave.sigmoid() * cell.tanh()
    weight, logits = network.head.weight.detach(), network.head(hidden).detach()
    at_logits = torch.zeros_like(logits)
    at_logits[label] = logits[label]
    at_hidden = share(hidden, weight, network.head.bias.detach(), at_logits)
    at_cell, relevances = torch.zeros_like(at_hidden), []
    rows = slice(2 * width, 3 * width)  # of the signal: the gates get nothing
    joined = torch.cat([from_input[rows], from_hidden[rows]], 1)
    for word, before, carried, added in reversed(steps):
        at_cell, at_signal = split_sum(carried, added, at_cell + at_hidden)
        at_both = share(torch.cat([word, before]), joined, bias[rows], at_signal)
        relevances.append(at_both[: len(word)].sum())
        at_hidden = at_both[len(word) :]
    return torch.stack(relevances[::-1])


def released_shares(x: Tensor, module, relevance: Tensor) -> Tensor:
    """Wu & Ong's released rule: x [l i], relevance [l j] -> [l i], the signs of weights apart, sizes, rescaled."""
    weight, bias, small = module.weight.detach(), module.bias.detach(), 1e-7
    shares = torch.zeros_like(x)
    for position, row in enumerate(x):
        for j, arrived in enumerate(relevance[position]):
            for side in (1, -1):
                of_sign = torch.where(weight[j] * side > 0, weight[j], 0.0)
                offset = bias[j] if bias[j] * side > 0 else 0.0
                shares[position] += 0.5 * row * of_sign * arrived / ((row * of_sign).sum() + offset + side * small)
    shares = shares.abs()
    return shares * (relevance.sum() + small) / (shares.sum() + small)


def released_half(begin: Callable[[Tensor], tuple[Tensor, ...]], x: Tensor, relevance: Tensor):
    """(plain gradient of a half block by what it begins with, and by its parts), for this relevance at its end."""
    leaf = x.detach().requires_grad_()
    *parts, output = begin(leaf)
    return torch.autograd.grad(output, [leaf, *parts], relevance)


def bert_released(network, ids: Tensor, label: int) -> Tensor:
    """[piece]: Wu & Ong's released LRP on a BERT classifier with one text, half block by half block."""
    bert, states = network.bert, []
    x = bert.embeddings(ids[None])
    for layer in bert.encoder.layer:
        middle = layer.attention(x)[0]
        states.append((layer, x.detach(), middle.detach()))
        x = layer.output(layer.intermediate(middle), middle)
    first = x[0, :1].detach()
    pooled = bert.pooler.dense(first).tanh().detach()
    begun = torch.zeros(1, network.config.num_labels, dtype=x.dtype)
    begun[0, label] = 1
    relevance = torch.zeros_like(x[0])
    relevance[:1] = released_shares(first, bert.pooler.dense, released_shares(pooled, network.classifier, begun))
    for layer, before, middle in reversed(states):
        relevance = _released_layer(layer, before, middle, relevance[None])
    return relevance.abs().sum(-1)


def _released_layer(layer, before: Tensor, middle: Tensor, relevance: Tensor) -> Tensor:
    mask, inner = None, layer.attention.self

    def feed_forward(leaf: Tensor) -> tuple[Tensor, Tensor]:
        dense = layer.output.dense(layer.intermediate(leaf))
        return dense, layer.output.LayerNorm(dense + leaf)

    residual, dense = released_half(feed_forward, middle, relevance)
    wide = layer.intermediate(middle)[0].detach()
    main = released_shares(wide, layer.output.dense, dense[0])
    relevance = released_shares(middle[0], layer.intermediate.dense, main) + residual[0]

    def attention(leaf: Tensor) -> tuple[Tensor, Tensor]:
        dense = layer.attention.output.dense(inner(leaf, mask)[0])
        return dense, layer.attention.output.LayerNorm(dense + leaf)

    residual, dense = released_half(attention, before, relevance[None])
    context = inner(before, mask)[0][0].detach()
    main = released_shares(context, layer.attention.output.dense, dense[0])
    heads, width = inner.num_attention_heads, inner.attention_head_size
    total = residual[0]
    maps = (inner.query, inner.key, inner.value)
    states = [module(before)[0].detach().requires_grad_() for module in maps]
    query, key, value = (state.view(-1, heads, width).transpose(0, 1) for state in states)
    weights = (query @ key.transpose(1, 2) / width**0.5).softmax(-1)
    mixed = (weights @ value).transpose(0, 1).flatten(1)
    for module, gradient in zip(maps, torch.autograd.grad(mixed, states, main), strict=True):
        total = total + released_shares(before[0], module, gradient)
    return total
