"""Trace: what one run of the network leaves behind; Want: what it shall leave behind."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, overload

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Trace:
    """What one run of the network leaves behind; rows are padded on the right to the longest.

    logits: [example class]. embeddings: [example unit width], the word embeddings. hidden: for l = 0..L [example unit
    width]; l = 0 is the first block's input. attention: for each block [example head query key]. spans: the span
    weights of a span-attention model, else None. head_values: for each block whose output projection is known [example
    head key width], what a head adds to a piece that attends to this key alone. gates: what a model that chooses its
    words has chosen, else None. units: the weights of a model that attends to units, else None.
    written: what a model that writes says of each piece that it is to write, else None. of_row: [row], where rows ask
    about several places of one text, the number of each row's text in `texts`, the trace of what was computed once for
    each text; its tensors, and not those of the rows, are nodes of the graph.
    """

    logits: Tensor
    embeddings: Tensor
    hidden: Sequence[Tensor] = ()
    attention: Sequence[Tensor] = ()
    spans: "SpanTrace | None" = None
    head_values: Sequence[Tensor] = ()
    gates: "GateTrace | None" = None
    units: "UnitTrace | None" = None
    written: "WrittenTrace | None" = None
    of_row: tuple[int, ...] = ()
    texts: "Trace | None" = None

    def of_rows(self, of_row: tuple[int, ...]) -> "Trace":
        """The trace of rows [row], each with all of its text but the logits, which are those of rows already."""
        index = torch.tensor(of_row, device=self.embeddings.device)
        return replace(
            self,
            embeddings=self.embeddings[index],
            hidden=RowParts(self.hidden, index),
            attention=RowParts(self.attention, index),
            head_values=RowParts(self.head_values, index),
            of_row=of_row,
            texts=self,
        )


class RowParts(Sequence[Tensor]):
    """Parts [text ...] as those of rows [row ...], made when they are read. of_row: [row], the number of its text."""

    def __init__(self, parts: Sequence[Tensor], of_row: Tensor) -> None:
        self.parts, self.of_row = parts, of_row

    def __len__(self) -> int:
        return len(self.parts)

    @overload
    def __getitem__(self, layer: int) -> Tensor: ...
    @overload
    def __getitem__(self, layer: slice) -> Sequence[Tensor]: ...
    def __getitem__(self, layer: int | slice) -> Tensor | Sequence[Tensor]:
        """[row ...] of a layer, or of several."""
        if isinstance(layer, slice):
            return RowParts(self.parts[layer], self.of_row)
        return self.parts[layer][self.of_row]


@dataclass(frozen=True)
class WrittenTrace:
    """What a model says of the pieces that it is to write, each after those before it; rows are padded on the right.

    logits: [example piece id]. ids: [example piece], the pieces themselves, -1 in padding. spans: what a translator
    that explains itself read of its source before each piece, else None. head: the last product, in a pass with
    gradients, where it is plain; else None.
    """

    logits: Tensor
    ids: Tensor
    spans: "WrittenSpans | None" = None
    head: "HeadProduct | None" = None

    def log_probabilities(self, ids: Tensor) -> Tensor:
        """[example piece] ids -> [example piece]: the log-probability of each in its place; 0 in padding."""
        logits = self.logits.float() if self.logits.dtype != torch.float64 else self.logits
        of_ids = logits.gather(-1, ids.clamp_min(0)[..., None])[..., 0]
        return (of_ids - logits.logsumexp(-1)).masked_fill(ids < 0, 0.0)


@dataclass(frozen=True)
class HeadProduct:
    """The product with the vocabulary, nodes of a graph: products = states @ weight.T (+ bias).

    states: [example piece width]. products: [example piece id]. weight: [id width].
    """

    states: Tensor
    products: Tensor
    weight: Tensor

    def gradient_by_states(self, values: Tensor) -> Tensor | None:
        """The gradient of the sum of values by the states: the product back of those pieces alone that values depend
        on.

        Of one word that is one piece of many, so most of the product back is with zeros. None where values do not come
        through the products, such as a hidden state.
        """
        (upstream,) = torch.autograd.grad(values.sum(), self.products, retain_graph=True, allow_unused=True)
        if upstream is None:
            return None
        there = (upstream != 0).any(-1)
        gradient = torch.zeros_like(self.states)
        gradient[there] = (upstream[there] @ self.weight).to(gradient)  # autocast may have rounded the product
        return gradient


@dataclass(frozen=True)
class WrittenSpans:
    """The weights of source spans before each written piece.

    first, last: [example span], the numbers of a span's first and last piece in the row, -1 where there is no such
        span.
    weights: [example piece span]: alpha, 0 where there is no span; each piece's sum is 1, or 0 for a source without
    spans. part: [example piece width], the spans' part of the state that writes each piece. head: [id width], what
    turns states into numbers for the vocabulary.
    """

    first: Tensor
    last: Tensor
    weights: Tensor
    part: Tensor
    head: Tensor

    def through(self, example: int, pieces: Sequence[int], ids: Tensor, others: Tensor) -> Tensor:
        """[piece]: by how much the spans put each written piece, own [piece], above another one; the head is linear, so
        parts add up.
        """
        return ((self.head[ids] - self.head[others]) * self.part[example, pieces]).sum(-1)


@dataclass(frozen=True)
class SpanTrace:
    """A span-attention model's own weights; a span is a pair of its first and last part.

    scores: [example part part], -inf where there is no legal span. log_normaliser: [example]. parts: how many parts
    each example has. width: the most parts of a span (None: no limit). unit: the kind of unit that a part is.
    layer_weights: [layer], the share that the states of each layer have in the span vectors; None: they are built from
    one layer. n_heaviest: how many spans the answer uses, so that it jumps where others become the heaviest; None: all,
    and nothing jumps.
    """

    scores: Tensor
    log_normaliser: Tensor
    parts: tuple[int, ...]
    unit: str
    width: int | None
    layer_weights: Tensor | None = None
    n_heaviest: int | None = None

    @property
    def weights(self) -> Tensor:
        """[example part part]: alpha, zero outside the legal spans; each example's sum is 1."""
        return (self.scores - self.log_normaliser[:, None, None]).exp()

    @property
    def concentration(self) -> Tensor:
        """[example]: the sum of alpha squared, from 1/spans (uniform) to 1 (one span)."""
        return self.weights.square().sum((1, 2))

    @property
    def entropy(self) -> Tensor:
        """[example]: -sum alpha log alpha in nats, computed as log normaliser - sum alpha * score."""
        finite = self.scores.masked_fill(self.scores.isinf(), 0.0)  # 0 * -inf would poison the gradient
        return self.log_normaliser - (self.weights * finite).sum((1, 2))


@dataclass(frozen=True)
class UnitTrace:
    """The weights of a model that attends to the units of its text; rows are padded on the right.

    scores: [example unit], -inf where there is no unit. states: [example unit width], what is weighted. runs: [example
    unit], the number of its text, -1 in padding. unit: "word" or "piece". head: weights [class width] and bias [class]
    of the linear head; None before the head has read the weighted sum.
    """

    scores: Tensor
    states: Tensor
    runs: Tensor
    unit: str
    head: tuple[Tensor, Tensor] | None = None

    @property
    def weights(self) -> Tensor:
        """[example unit]: alpha, zero in padding; each example's sum is 1, or 0 where it has no unit."""
        lowest = torch.finfo(self.scores.dtype).min  # a row of -inf alone would give nan
        return self.scores.clamp_min(lowest).softmax(-1).masked_fill(self.runs < 0, 0.0)

    @property
    def logits(self) -> Tensor:
        """[example unit class]: the head's logits for each unit's state alone, 0 in padding.

        The head is linear and the weights sum to 1, so the weighted sum of these logits is the text's.
        """
        assert self.head is not None  # the network adds it when it decides
        weight, bias = self.head
        return (self.states.to(weight.dtype) @ weight.T + bias).masked_fill(self.runs[..., None] < 0, 0.0)

    @property
    def concentration(self) -> Tensor:
        """[example]: the sum of alpha squared, from 1/units (uniform) to 1 (one unit)."""
        return self.weights.square().sum(1)

    @property
    def entropy(self) -> Tensor:
        """[example]: -sum alpha log alpha in nats, computed as log normaliser - sum alpha * score."""
        finite = self.scores.masked_fill(self.scores.isinf(), 0.0)  # 0 * -inf would poison the gradient
        normaliser = self.scores.clamp_min(torch.finfo(self.scores.dtype).min).logsumexp(-1)
        return (normaliser - (self.weights * finite).sum(1)).masked_fill((self.runs < 0).all(1), 0.0)


@dataclass(frozen=True)
class GateTrace:
    """What a model that chooses its words has read; rows are padded on the right.

    unit: "word" or "piece". values: [example unit], how much of each unit was read, 0 to 1. chances: [example unit],
    the probability that it is read at all. runs: [example unit], the number of its text, -1 in padding. log_chance:
    [example], the log probability of the values where they were drawn as 0 or 1, else None.
    """

    values: Tensor
    chances: Tensor
    runs: Tensor
    unit: str
    log_chance: Tensor | None = None

    @property
    def counts(self) -> Tensor:
        """[example]: how many units it has; at least 1."""
        return (self.runs >= 0).sum(1).clamp_min(1)

    @property
    def expected_coverage(self) -> Tensor:
        """[example]: the expected share of units that are read, 0 to 1."""
        return self.chances.sum(1) / self.counts

    @property
    def coverage(self) -> Tensor:
        """[example]: the share of units that are read with a probability above 0.5; 0 to 1."""
        return (self.chances > 0.5).sum(1) / self.counts

    @property
    def expected_changes(self) -> Tensor:
        """[example]: expected changes between read and unread neighbours in one text, divided by units; 0 to below
        1.
        """
        left, right = self.chances[:, :-1], self.chances[:, 1:]
        beside = (self.runs[:, :-1] >= 0) & (self.runs[:, :-1] == self.runs[:, 1:])
        return ((left * (1 - right) + right * (1 - left)) * beside).sum(1) / self.counts


@dataclass(frozen=True)
class StateTrace:
    """An encoder's last states beside the word vectors that it read; rows are padded on the right.

    states: [example piece width]. ids: [example piece], the tokenizer's. table: [id vector width], all word vectors.
    real: [example piece] bool, the pieces of text; special tokens, absent pieces and padding are not.
    """

    states: Tensor
    ids: Tensor
    table: Tensor
    real: Tensor

    @property
    def vectors(self) -> Tensor:
        """[example piece vector width]: the word vectors, before dropout and whatever the encoder adds to them."""
        return F.embedding(self.ids, self.table)

    def mean(self, values: Tensor) -> Tensor:
        """[example piece ...] -> [example ...]: the mean over the real pieces, 0 where there are none."""
        real = self.real.reshape(*self.real.shape, *(1,) * (values.ndim - 2))
        return values.masked_fill(~real, 0.0).sum(1) / real.sum(1).clamp_min(1)


ChangeAttention = Callable[[int, Tensor, Tensor], Tensor]
"""(the block's number from 0, its weights [example head query key], the keys that no mask hides, bool) -> weights."""


KeepBlocks = Callable[[Sequence[Tensor], Tensor], Sequence[Tensor]]
"""(what is kept of the blocks below, one more block's weights or head values) -> what is kept with this block."""


def every_block(below: Sequence[Tensor], block: Tensor) -> Sequence[Tensor]:
    """All blocks, first to last."""
    return (*below, block)


def last_block(_: Sequence[Tensor], block: Tensor) -> Sequence[Tensor]:
    """The last block alone, so that memory does not grow with their number."""
    return (block,)


def no_block(_: Sequence[Tensor], __: Tensor) -> Sequence[Tensor]:
    """None of them."""
    return ()


@dataclass(frozen=True)
class Want:
    """What the trace of a run shall contain besides logits; nothing else is computed.

    gradients: a graph. hidden, attention: these parts of the trace. head_values: with attention only. keep: what of
    attention and head values stays in memory, block by block; a run with a graph keeps `every_block`. head_graph: a
    graph of what follows the last block alone; its states are then the only hidden ones of the trace, and networks that
    write leave this part away. deepest: the last hidden state that is needed; blocks above it do not run, and there are
    no logits. under: network -> the context in which it runs (a relevance policy). change_attention: what blocks
    compute with in place of their attention weights; needs the capability attention. wide_head: what follows the last
    block is computed in float32 at least, where the network shows its blocks: for answers that are subtracted. eager:
    by PyTorch itself and in the weights' number type, without a route: for a trial.
    """

    gradients: bool = False
    hidden: bool = False
    attention: bool = False
    keep: KeepBlocks = every_block
    head_graph: bool = False
    deepest: int | None = None
    head_values: bool = False
    under: Callable[[nn.Module], AbstractContextManager[Any]] | None = None
    wide_head: bool = False
    eager: bool = False
    change_attention: ChangeAttention | None = None

    @property
    def exchanges_functions(self) -> bool:
        """Whether the run computes functions of torch in another way than the network's own call, to see or change
        them.
        """
        return self.attention or self.under is not None or self.change_attention is not None


NOTHING = Want()
