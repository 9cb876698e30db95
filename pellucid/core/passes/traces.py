"""The runs of the network that one batch needs, each run once, when its trace is first read; and their gradients."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from pellucid.core.foundation.errors import ModelCannot
from pellucid.core.foundation.lazy_properties import cached_property
from pellucid.core.passes.batch import Row
from pellucid.core.passes.gradients import Gradients, gradients_of
from pellucid.core.passes.model import WRITING, Model
from pellucid.core.passes.readout import Readout
from pellucid.core.passes.target import Explainable
from pellucid.core.passes.trace import Trace, Want


@dataclass
class Traces:
    """The runs of rows under a model. point, layer, open_attention: as in `ForwardPass`."""

    model: Model
    rows: Sequence[Row]
    point: Tensor | None = None
    layer: int | None = None
    open_attention: bool = False
    _gradients: dict[tuple[Explainable, bool], Gradients] = field(
        default_factory=dict, init=False, repr=False
    )

    def _run(self, want: Want) -> Trace:
        return self.model.trace(self.rows, want, self.point, self.layer)

    @cached_property
    def with_graph(self) -> Trace:
        """Logits, word embeddings, hidden states and, if open, attention."""
        return self._run(Want(gradients=True, hidden=True, attention=self.open_attention))

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
    def attention(self) -> Sequence[Tensor]:
        """For each block [example head query key]: the weights; rows sum to 1 over real keys."""
        if self.open_attention:
            return tuple(weights.detach() for weights in self.with_graph.attention)
        with torch.no_grad():
            return self._run(Want(attention=True)).attention

    @cached_property
    def head_values(self) -> Sequence[Tensor]:
        """For each block [example head key width]; raises `ModelCannot` where there is no output projection."""
        with torch.no_grad():
            trace = self._run(Want(attention=True, head_values=True))
        if len(trace.head_values) != len(trace.attention):
            raise ModelCannot(
                f"In {self.model.name} the heads' values do not go through one linear map at the end of a block; use "
                "attention or attention_gradient."
            )
        return trace.head_values

    def gradients(self, target: Explainable, *, hidden: bool = False) -> Gradients:
        """The target's gradients: by all layers at the text's own embeddings, at other points by hidden states if `hidden`.

        Those of one target are computed once. A model that writes has a target for each word, and all layers of all words are
        more than memory should be filled with: it too gives those by hidden states where they are asked for.
        """
        hidden = hidden or (self.point is None and WRITING not in self.model.capabilities)
        if (target, hidden) not in self._gradients:
            self._gradients[target, hidden] = self.new_gradients(target, hidden=hidden)
        return self._gradients[target, hidden]

    def new_gradients(self, target: Explainable, *, hidden: bool) -> Gradients:
        """The target's gradients, by hidden states if `hidden`; they are not kept."""
        values = target.values(target.readout.answers(self.with_graph, self.rows))
        return gradients_of(values, self.with_graph, hidden=hidden)

    @property
    def with_states(self) -> Trace:
        """Logits, word embeddings and hidden states: the trace with a graph if it has already run."""
        return self.with_graph if "with_graph" in self.__dict__ else self.states

    @property
    def at_hand(self) -> Trace:
        """Logits and word embeddings: a trace that has already run, or else the cheapest."""
        done = next((name for name in ("with_graph", "without_graph", "states") if name in self.__dict__), "")
        return getattr(self, done or "without_graph")  # type: ignore[no-any-return]

    def for_readout(self, readout: Readout) -> Trace:
        """The cheapest trace that has what a readout needs, or one that has already run."""
        return self.with_states if readout.want.hidden else self.at_hand
