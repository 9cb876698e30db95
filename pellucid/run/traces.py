"""The runs of the network that one batch needs, each run once, when its trace is first read; and their gradients."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import overload

import torch
from torch import Tensor

from pellucid.base.errors import ModelCannot
from pellucid.base.memory import is_memory_error
from pellucid.base.packages import cached_property
from pellucid.run.batch import Batch, Row
from pellucid.run.model import WRITING, Model
from pellucid.run.readout import Positions, Readout
from pellucid.run.target import Explainable
from pellucid.run.trace import KeepBlocks, Trace, Want, every_block
from pellucid.text.example import Example

# Gradients by the parts of a trace: those of a target, and those that show which positions the classification head
# reads.

MOST_PIECES_BACK = 1024  # of a pass back with the gradients of several rows of a text: more fill a core by themselves
MOST_UNUSED = 1.2  # gradients of texts that such a pass computes, for each that is read
REMEMBERED = 2**25  # numbers of gradients by word embeddings: those of every word of a long prompt's answer are more
TRIAL = Example(("We saw the new film, and it was a good one.",))
Join = Callable[[Sequence[Tensor]], Tensor]


@dataclass(frozen=True)
class JoinedPart:
    """A part of a trace that stands in several tensors of the graph, such as a layer's states those of encoder and of
    decoder.

    It is put together when it is read, beside the graph, so that who reads none pays for none; gradients by it are put
    together from those by the tensors that the network really computes.

    tensors: nodes of the graph. value: the tensors -> the part. gradient: gradients by the tensors -> the gradient by
    the part."""

    tensors: tuple[Tensor, ...]
    value: Join
    gradient: Join


class JoinedParts(Sequence[Tensor]):
    """Of each layer the part, computed whenever it is read."""

    def __init__(self, parts: Sequence[JoinedPart]) -> None:
        self.parts = tuple(parts)

    def __len__(self) -> int:
        return len(self.parts)

    @overload
    def __getitem__(self, layer: int) -> Tensor: ...
    @overload
    def __getitem__(self, layer: slice) -> Sequence[Tensor]: ...
    def __getitem__(self, layer: int | slice) -> Tensor | Sequence[Tensor]:
        """[example unit width] of a layer, or of several."""
        if isinstance(layer, slice):
            return JoinedParts(self.parts[layer])
        part = self.parts[layer]
        return part.value(part.tensors)


def graph_nodes(parts: Sequence[Tensor]) -> list[Tensor]:
    """The nodes of the graph behind the parts, one after another."""
    if isinstance(parts, JoinedParts):
        return [tensor for part in parts.parts for tensor in part.tensors]
    return list(parts)


def gradients_by(parts: Sequence[Tensor], by_nodes: Iterator[Tensor]) -> Sequence[Tensor]:
    """The gradients by the parts; by_nodes: those by `graph_nodes`, of which this takes as many as there are."""
    if not isinstance(parts, JoinedParts):
        return tuple(next(by_nodes) for _ in parts)
    return JoinedParts(
        [JoinedPart(tuple(next(by_nodes) for _ in part.tensors), part.gradient, part.gradient) for part in parts.parts]
    )


@dataclass(frozen=True)
class Gradients:
    """The target's gradients by each part of a trace; a part that was not computed is empty.

    embeddings: [example unit width]. hidden: for l = 0..L [example unit width]. attention: for each block [example head
    query key]. absorbed: for each account of a ledger [example], the relevance that went there.
    """

    embeddings: Tensor
    hidden: Sequence[Tensor]
    attention: Sequence[Tensor]
    absorbed: Mapping[str, Tensor]

    def by(self, layer: int | None) -> Tensor:
        """[example unit width]: by the word embeddings (None), or by the hidden states of a layer."""
        return self.embeddings if layer is None else self.hidden[layer]


def gradients_of(
    values: Tensor, trace: Trace, *, hidden: bool = True, accounts: Mapping[str, Tensor] | None = None
) -> Gradients:
    """The gradients of values [example] by the trace that they were computed from; 0 by parts that no value depends on.

    hidden: by the hidden states too. accounts: those of a ledger, by name.
    """
    accounts = accounts or {}
    texts = trace.texts or trace
    groups = [(texts.embeddings,), texts.hidden if hidden else (), texts.attention, tuple(accounts.values())]
    points = [point for group in groups for point in graph_nodes(group)]
    gradients = iter(by_rows(values, trace, points))
    (embeddings,), states, attention, absorbed = (gradients_by(group, gradients) for group in groups)
    return Gradients(embeddings, states, attention, dict(zip(accounts, absorbed, strict=True)))


def _by_nodes(values: Tensor, trace: Trace, nodes: Sequence[Tensor]) -> list[Tensor]:
    """The gradients of the sum of values by nodes of the graph."""
    head = None if trace.written is None else trace.written.head
    weights = None if head is None else head.gradient_by_states(values)
    outputs = values.sum() if head is None or weights is None else head.states
    # The graph stays: gradients of another target, or by another layer, may follow.
    return [*torch.autograd.grad(outputs, nodes, weights, retain_graph=True, materialize_grads=True)]


def by_rows(values: Tensor, trace: Trace, nodes: Sequence[Tensor]) -> list[Tensor]:
    """Of each node [text ...] the gradients [row ...] of values [row], where several rows ask about one text.

    One pass back serves the first row of each text, another one the second rows, and so on; of short texts all of them
    are one, whose products are large enough for the processor.
    """
    if trace.texts is None:
        return _by_nodes(values, trace, nodes)
    gradients = [node.new_empty(len(values), *node.shape[1:]) for node in nodes]
    ranks = _one_a_text(trace.of_row)
    passes = _in_one_pass(values, trace, nodes, ranks)
    for rows, by_nodes in zip(ranks, passes or (_by_nodes(values[rows], trace, nodes) for rows in ranks), strict=True):
        texts = [trace.of_row[row] for row in rows]
        for gradient, by_node in zip(gradients, by_nodes, strict=True):
            gradient[rows] = by_node[texts]
    return gradients


def _in_one_pass(
    values: Tensor, trace: Trace, nodes: Sequence[Tensor], ranks: Sequence[Sequence[int]]
) -> list[list[Tensor]]:
    """For each rank the gradients of its rows' values by the nodes, from one pass back; empty where the texts are long
    or have unlike many rows, or where a function of the network takes no several gradients at once.
    """
    assert trace.texts is not None  # else each text has one row
    n_texts, length = trace.texts.embeddings.shape[:2]
    many = len(ranks) * n_texts * length > MOST_PIECES_BACK or len(ranks) * n_texts > MOST_UNUSED * len(values)
    if trace.written is not None or len(ranks) < 2 or many:
        return []
    weights = values.new_zeros(len(ranks), len(values))
    for rank, rows in enumerate(ranks):
        weights[rank, list(rows)] = 1
    settings = {"retain_graph": True, "allow_unused": True, "is_grads_batched": True}
    try:
        by_node = torch.autograd.grad(values, nodes, weights, **settings)
    except RuntimeError as error:
        if is_memory_error(error):
            raise
        return []
    pairs = zip(by_node, nodes, strict=True)
    every = [node.new_zeros(len(ranks), *node.shape) if numbers is None else numbers for numbers, node in pairs]
    return [[numbers[rank] for numbers in every] for rank in range(len(ranks))]


def _one_a_text(of_row: Sequence[int]) -> list[list[int]]:
    """The first row of each text, the second rows of those that have two, and so on."""
    before: Counter[int] = Counter()
    ranks: list[list[int]] = []
    for row, text in enumerate(of_row):
        if before[text] == len(ranks):
            ranks.append([])
        ranks[before[text]].append(row)
        before[text] += 1
    return ranks


def head_positions(trace: Trace, batch: Batch) -> Tensor:
    """[example unit]: the positions that the head reads, equally weighted; rows sum to 1.

    The head reads a position where a mixture of the logits has a gradient by its last hidden state: the first position
    for BERT, the last for decoders, all where the head takes the mean. Where every gradient is 0, all pieces count.
    """
    touched = (_head_gradient(trace) != 0).any(-1)
    real = torch.zeros_like(touched)
    for example, length in enumerate(batch.lengths):
        real[example, :length] = True
    shares = torch.where(touched.any(-1, keepdim=True), touched, real).to(trace.hidden[-1])
    return shares / shares.sum(-1, keepdim=True)


def positions_of_head(model: Model) -> Positions:
    """The positions whose last hidden states the head reads, seen on one trial text.

    "first" or "last" where only that state has a gradient; "pooled" where all the text's pieces have the same gradient
    and special tokens none, as under a mean; else "all".
    """
    batch = model.encode([TRIAL])
    with torch.inference_mode(False):
        gradient = _head_gradient(model.trace(batch.rows, Want(gradients=True, hidden=True)))[0]
    touched = (gradient != 0).any(-1).nonzero()[:, 0].tolist()
    ends = {(0,): "first", (len(gradient) - 1,): "last"}
    if tuple(touched) in ends:
        return ends[tuple(touched)]
    alike = torch.allclose(gradient[touched], gradient[touched[:1]], rtol=1e-3, atol=0)
    return "pooled" if alike and tuple(touched) == tuple(batch.units[0].content) else "all"


def _head_gradient(trace: Trace) -> Tensor:
    """[example unit width]: the gradient of a mixture of the logits by the last hidden states."""
    mixture = trace.logits @ torch.arange(1, trace.logits.shape[-1] + 1).to(trace.logits)
    last = (trace.texts or trace).hidden[-1:]
    return gradients_by(last, iter(by_rows(mixture, trace, graph_nodes(last))))[0]


@dataclass
class Traces:
    """The runs of rows under a model. point, layer, open_attention: as in `ForwardPass`."""

    model: Model
    rows: Sequence[Row]
    point: Tensor | None = None
    layer: int | None = None
    open_attention: bool = False
    _gradients: dict[tuple[Explainable, bool], Gradients] = field(default_factory=dict, init=False, repr=False)
    _weights: dict[tuple[KeepBlocks, bool], Trace] = field(default_factory=dict, init=False, repr=False)

    def _run(self, want: Want) -> Trace:
        return self.model.trace(self.rows, want, self.point, self.layer)

    @cached_property
    def with_graph(self) -> Trace:
        """Logits, word embeddings, hidden states and, if open, attention."""
        return self._run(Want(gradients=True, hidden=True, attention=self.open_attention))

    @cached_property
    def words_with_graph(self) -> Trace:
        """Logits and word embeddings alone: a route may leave out what no logit depends on."""
        return self._run(Want(gradients=True))

    @cached_property
    def without_graph(self) -> Trace:
        """Logits, word embeddings and, for self-explaining models, their own weights."""
        with torch.no_grad():
            return self._run(Want())

    @cached_property
    def states(self) -> Trace:
        """Logits, word embeddings and hidden states, without a graph."""
        with torch.no_grad():
            return self._run(Want(hidden=True))

    @cached_property
    def words(self) -> Trace:
        """Word embeddings alone: the run ends where the first block begins, and its logits are of no class."""
        with torch.no_grad():
            return self._run(Want(hidden=True, deepest=0, eager=True))  # no route could be faster, so none is tried

    @property
    def word_embeddings(self) -> Tensor:
        """[example unit width]: of a trace that has already run, or else of the cheapest that has logits too."""
        return (self.words if "words" in self.__dict__ else self.at_hand).embeddings

    def weights(self, keep: KeepBlocks, *, head_values: bool = False) -> Trace:
        """What is kept of the blocks' weights [example head query key], whose rows sum to 1 over real keys, and of head
        values [example head key width].

        Made of all weights where they are in memory already, else block by block while the network runs. Raises
        `ModelCannot` where head values are wanted and a block has no output projection.
        """
        if (keep, head_values) not in self._weights:
            self._weights[keep, head_values] = self._new_weights(keep, head_values)
        trace = self._weights[keep, head_values]
        if head_values and len(trace.head_values) != len(trace.attention):
            raise ModelCannot(
                f"In {self.model.name} the heads' values do not go through one linear map at the end of a block; use "
                "attention or attention_gradient."
            )
        return trace

    def _new_weights(self, keep: KeepBlocks, head_values: bool) -> Trace:
        done = self.with_graph if self.open_attention else self._weights.get((every_block, False))
        if done is not None and not head_values:
            return replace(done, attention=reduce(keep, (weights.detach() for weights in done.attention), ()))
        with torch.no_grad():
            return self._run(Want(attention=True, head_values=head_values, keep=keep, head_graph=True))

    @property
    def of_head(self) -> Trace:
        """Logits and last hidden states, with a graph of what lies between, of the cheapest run."""
        if "with_graph" in self.__dict__:
            return self.with_graph
        return next(iter(self._weights.values()), None) or self._head

    @cached_property
    def _head(self) -> Trace:
        return self._run(Want(head_graph=True))

    def gradients(self, target: Explainable, *, hidden: bool = False) -> Gradients:
        """The target's gradients: by all layers at the text's own embeddings, at other points by hidden states if
        `hidden`.

        Those of one target are computed once, as long as there is room. A model that writes has a target for each word,
        and all layers of all words are more than memory should be filled with: it too gives those by hidden states
        where they are asked for.
        """
        hidden = hidden or (self.point is None and WRITING not in self.model.capabilities)
        gradients = self._gradients.get((target, hidden))
        if gradients is None:
            gradients = self.new_gradients(target, hidden=hidden)
            if len(self._gradients) * gradients.embeddings.numel() < REMEMBERED:
                self._gradients[target, hidden] = gradients
        return gradients

    def new_gradients(self, target: Explainable, *, hidden: bool) -> Gradients:
        """The target's gradients, by hidden states if `hidden`; they are not kept."""
        trace = self.with_graph if hidden or self._has_states(target) else self.words_with_graph
        values = target.values(target.readout.answers(trace, self.rows))
        return gradients_of(values, trace, hidden=hidden)

    def _has_states(self, target: Explainable) -> bool:
        """Whether states are wanted beside gradients by words, or are there already."""
        return target.readout.want.hidden or self.open_attention or "with_graph" in self.__dict__

    @property
    def with_states(self) -> Trace:
        """Logits, word embeddings and hidden states: the trace with a graph if it has already run."""
        return self.with_graph if "with_graph" in self.__dict__ else self.states

    @property
    def at_hand(self) -> Trace:
        """Logits and word embeddings: a trace that has already run, or else the cheapest."""
        names = ("with_graph", "without_graph", "words_with_graph", "states")
        done = next((name for name in names if name in self.__dict__), "")
        return getattr(self, done or "without_graph")

    def for_readout(self, readout: Readout) -> Trace:
        """The cheapest trace that has what a readout needs, or one that has already run."""
        return self.with_states if readout.want.hidden else self.at_hand
