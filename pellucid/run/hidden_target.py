"""A hidden state as the target: which words does this layer's state depend on?

Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP", explain hidden states. A
state is a vector. Methods that read vectors get it whole (`state_function.py`); all others explain a number, and our
number is the state's length along the direction that it has for the whole text: it falls when words that the state
depends on are removed.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from torch import Tensor

from pellucid.base.checks import at_least, in_syntax, one_of, quoted
from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.results.explanation import Explained
from pellucid.run.batch import Batch, Row
from pellucid.run.model import WRITING, Model, part_of
from pellucid.run.readout import Positions, Readout, StateReadout
from pellucid.run.rounding import quotient, widened
from pellucid.run.target import Explainable
from pellucid.run.traces import positions_of_head

EVERY = "all"  # every layer, or every piece of a text
HEAD = "head"


class StateTarget(ABC):
    """What is read from hidden states, as a target: a state, or something that is computed from states."""

    @abstractmethod
    def check(self, model: Model, batch: Batch) -> None:
        """Raises where the model or the texts do not have what is read."""

    @abstractmethod
    def in_model(self, model: Model) -> "StateTarget":
        """The same target with all that depends on the model."""

    @abstractmethod
    def rows_read(self, windows: Batch) -> list[int]:
        """The rows of a batch that contain what is explained."""

    @abstractmethod
    def readout_in(self, model: Model) -> Readout:
        """Reads the answer off a pass."""

    @abstractmethod
    def resolve(self, answers: Tensor, model: Model) -> Explainable:
        """The target fixed by the answers [example answer] of the whole texts."""


@dataclass(frozen=True)
class HiddenState(StateTarget):
    """The state of one layer, as a target: `explain(model, texts, method, target=HiddenState(3))`.

    layer: from 0 (the first block's input) to the number of blocks. "all": each of them, in a row of its own. "head":
        what the classification head reads.
    positions: "pooled" (the mean over the text's pieces, without special tokens), "first" or "last" (of all tokens), or
        a tuple of piece numbers, counted with special tokens: the mean of their states where a method reads a number,
        their states side by side where it reads vectors. "all": the states of all tokens, side by side.
    part: a part of a layer's state, where a model names parts (a CNN's by the width of its filters, such as "5").

    layer="all" and positions="all" are many vectors, so they need a method that reads vectors, such as
    "retained_information". "head" is the last layer at the positions that the head's gradient reaches in a trial text:
    "first", "last" or "pooled" where it reads one state or the plain mean of the text's; else "all", the states from
    which the head makes its vector. The result names the layer and the positions.

    Piece numbers are those of the whole text: of a text longer than the model reads, only the windows with a named
    piece are explained. A removed piece has no state, also where others move to its position; where all named pieces
    are removed, the state is 0. "first" and "last" are those of the remaining pieces. Raises `BadSetting` for another
    layer, other positions or another part.

    >>> pooled = pellucid.HiddenState(1)
    >>> explanation = pellucid.explain("my-classifier", "A good film.", "occlusion", target=pooled)[0]
    >>> str(explanation.target)
    'hidden state (pooled) of layer 1'
    """

    layer: int | Literal["all", "head"]
    positions: Positions = "pooled"
    part: str | None = None

    def __post_init__(self) -> None:
        self._check_layer()
        if isinstance(self.positions, str):
            one_of("positions", self.positions, ("pooled", "first", "last", EVERY))
        elif (
            not isinstance(self.positions, tuple | list)
            or not self.positions
            or any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in self.positions)
        ):
            raise BadSetting(
                f"positions={quoted(self.positions)} is not possible; give 'pooled', 'first', 'last', 'all', or "
                f"numbers of pieces such as (1, 2)."
            )
        else:
            object.__setattr__(self, "positions", tuple(self.positions))
        if self.layer == HEAD and self.positions != "pooled":
            raise BadSetting(
                f"layer='head' has its own positions, those that the head reads; leave "
                f"positions={quoted(self.positions)} away."
            )
        if self.part is not None and not (isinstance(self.part, str) and isinstance(self.layer, int)):
            raise BadSetting(
                f"part={quoted(self.part)} names a part of one layer's state, as a word; give the number of the layer."
            )

    def _check_layer(self) -> None:
        if isinstance(self.layer, str) and self.layer in (EVERY, HEAD):
            return
        if isinstance(self.layer, bool) or not isinstance(self.layer, int):
            raise BadSetting(
                in_syntax(
                    f"layer={quoted(self.layer)} is not possible; give a whole number, 'all' or 'head'.",
                    f"--layer {self.layer} is not possible; give a whole number, all or head.",
                )
            )
        at_least("layer", self.layer, 0)

    @property
    def is_one_vector(self) -> bool:
        """Whether one vector a text is explained, so that methods that read a number can explain its length."""
        return self.layer != EVERY and self.positions != EVERY

    def check(self, model: Model, batch: Batch) -> None:
        """Raises `ModelCannot` where the model shows no states, `BadSetting` where there is no such layer, part or
        piece.
        """
        if "hidden_states" not in model.capabilities:
            raise ModelCannot(f"{model.name} shows no hidden states; explain one of its classes.")
        if isinstance(self.layer, int) and self.layer > model.n_layers:
            raise BadSetting(
                f"layer={self.layer} is no layer of {model.name}; give a number from 0 to {model.n_layers}, or all."
            )
        self._columns(model)
        for example, count in zip(batch.examples, batch.lengths, strict=True):
            for piece in self.positions if isinstance(self.positions, tuple) else ():
                if piece >= count:
                    raise BadSetting(
                        f"positions names piece {piece}; example {quoted(example.id)} has pieces 0 to {count - 1}."
                    )

    def in_model(self, model: Model) -> "HiddenState":
        """The same target with the layer and positions that "head" stands for in this model."""
        if self.layer != HEAD:
            return self
        if WRITING in model.capabilities:
            raise ModelCannot(f"{model.name} has no classification head, so no states that one reads; name a layer.")
        if "gradient" not in model.capabilities:
            raise ModelCannot(
                f"Which states the head of {model.name} reads is seen by gradients, which it does not give; name a "
                f"layer."
            )
        return HiddenState(model.n_layers, positions_of_head(model))

    def rows_read(self, windows: Batch) -> list[int]:
        """The rows of a batch with a piece whose state is explained."""
        return [row for row in range(len(windows)) if self._is_read_in(windows, row)]

    def _is_read_in(self, windows: Batch, row: int) -> bool:
        part = windows.parts[row]
        if part is None or self.positions in ("pooled", EVERY):
            return True
        ends = {"first": 0, "last": len(windows.whole_rows[row]) - 1}
        pieces = (ends[self.positions],) if isinstance(self.positions, str) else self.positions
        return not set(pieces).isdisjoint(part)

    def _columns(self, model: Model) -> slice | None:
        """The columns of the part in the layer's state; None for the whole state."""
        if self.part is None or not isinstance(self.layer, int):
            return None
        return part_of(model, self.layer, self.part)

    @property
    def readout(self) -> StateReadout:
        """Reads the state off a pass, whole: that of one layer, with one vector a text."""
        assert isinstance(self.layer, int) and self.positions != EVERY
        return StateReadout(self.layer, self.positions)

    def readout_in(self, model: Model) -> StateReadout:
        """Reads one state off a pass: that of the last layer where all are explained, the pooled one where all pieces
        are.
        """
        layer = self.layer if isinstance(self.layer, int) else model.n_layers
        positions = "pooled" if self.positions == EVERY else self.positions
        return StateReadout(layer, positions, self._columns(model))

    def resolve(self, states: Tensor, model: Model) -> "ResolvedState":
        """Fix each example's direction by the states [example width] of the whole texts, as `readout_in` reads them."""
        states = widened(states.detach())
        layers = (self.layer,) if isinstance(self.layer, int) else tuple(range(model.n_layers + 1))
        return ResolvedState(self, quotient(states, states.norm(dim=-1, keepdim=True)), self.readout_in(model), layers)


@dataclass(frozen=True, eq=False)
class ResolvedState:
    """A hidden state with each example's direction [example width] fixed.

    hidden_state: what was asked for. readout: reads the number's state off a pass. layers: the layers that are
    explained.
    """

    hidden_state: HiddenState
    directions: Tensor
    readout: StateReadout
    layers: tuple[int, ...]

    def values(self, states: Tensor) -> Tensor:
        """[example width] -> [example]: each state's length along its direction."""
        return (states * self.directions.to(states)).sum(-1)

    def values_of(self, example: int, states: Tensor) -> Tensor:
        """[variant width] -> [variant]: the same for variants of one example."""
        return states @ self.directions[example].to(states)

    def select(self, indices: Sequence[int]) -> "ResolvedState":
        """The target of these examples."""
        return replace(self, directions=self.directions[list(indices)])

    def pieces_read(self, rows: Sequence[Row]) -> None:
        """Those that the head reads: a state's own pieces are not where the model decides."""
        return

    def one_a_layer(self) -> list["ResolvedState"]:
        """For each layer the target of that layer alone, for methods that read vectors."""
        return [
            replace(
                self,
                hidden_state=replace(self.hidden_state, layer=n),
                readout=replace(self.readout, layer=n),
                layers=(n,),
            )
            for n in self.layers
        ]

    def explained(self, example: int, answer: Tensor, labels: Sequence[str]) -> Explained:
        """The explained value with its name; answer: the example's own state [width].

        Of several states, the value is that of the one that `HiddenState.readout_in` reads.
        """
        first, last = self.layers[0], self.layers[-1]
        where = (
            self.hidden_state.positions
            if isinstance(self.hidden_state.positions, str)
            else f"pieces {self.hidden_state.positions}"
        )
        where = where if self.hidden_state.part is None else f"{where}, part {self.hidden_state.part}"
        name = "hidden state" if self.hidden_state.is_one_vector else "hidden states"
        value = float(self.values_of(example, answer[None].double()))
        return Explained(
            f"layer {first}" if first == last else f"layers {first} to {last}",
            None,
            f"{name} ({where})",
            value,
        )
