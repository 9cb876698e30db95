"""A hidden state as the target: which words does this layer's state depend on?

Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP", explain hidden states with
the methods that explain classes. A state is a vector, and methods explain a number. Our number is the state's length along
the direction that it has for the whole text: it falls when words that the state depends on are removed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from pellucid.core.foundation.checks import at_least, one_of
from pellucid.core.foundation.errors import BadSetting, ModelCannot
from pellucid.core.foundation.wording import quoted
from pellucid.core.passes.batch import Batch
from pellucid.core.passes.model import Model
from pellucid.core.passes.precision import quotient, widened
from pellucid.core.passes.readout import Positions, StateReadout
from pellucid.core.results.explanation import Explained


@dataclass(frozen=True)
class HiddenState:
    """The state of one layer, as a target: `explain(model, texts, method, target=HiddenState(3))`.

    layer: from 0 (the first block's input) to the number of blocks.
    positions: "pooled" (the mean over the text's pieces, without special tokens), "first" or "last" (of all tokens), or a
        tuple of piece numbers, counted with special tokens.

    Piece numbers are those of the whole text: of a text longer than the model reads, only the windows with a named piece
    are explained. A removed piece has no state, also where others move to its position; where all named pieces are
    removed, the state is 0. "first" and "last" are those of the remaining pieces. Raises `BadSetting` for another layer or
    other positions.

    >>> pooled = pellucid.HiddenState(1)
    >>> explanation = pellucid.explain("my-classifier", "A good film.", "occlusion", target=pooled)[0]
    >>> str(explanation.target)
    'hidden state (pooled) of layer 1'
    """

    layer: int
    positions: Positions = "pooled"

    def __post_init__(self) -> None:
        if isinstance(self.layer, bool) or not isinstance(self.layer, int):
            raise BadSetting(f"layer={quoted(self.layer)} is not possible; give a whole number.")
        at_least("layer", self.layer, 0)
        if isinstance(self.positions, str):
            one_of("positions", self.positions, ("pooled", "first", "last"))
        elif (
            not isinstance(self.positions, tuple | list)
            or not self.positions
            or any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in self.positions)
        ):
            raise BadSetting(
                f"positions={quoted(self.positions)} is not possible; give 'pooled', 'first', 'last', or numbers of "
                "pieces such as (1, 2)."
            )

    def check(self, model: Model, batch: Batch) -> None:
        """Raises `ModelCannot` where the model shows no states, `BadSetting` where there is no such layer or piece."""
        if "hidden_states" not in model.capabilities:
            raise ModelCannot(f"{model.name} shows no hidden states; explain one of its classes.")
        if self.layer > model.n_layers:
            raise BadSetting(f"layer={self.layer}, but {model.name} has layers 0 to {model.n_layers}.")
        for example, count in zip(batch.examples, batch.lengths, strict=True):
            for piece in self.positions if isinstance(self.positions, tuple) else ():
                if piece >= count:
                    raise BadSetting(
                        f"positions names piece {piece}; example {quoted(example.id)} has pieces 0 to {count - 1}."
                    )

    def rows_read(self, windows: Batch) -> list[int]:
        """The rows of a batch with a piece whose state is explained."""
        return [row for row in range(len(windows)) if self._is_read_in(windows, row)]

    def _is_read_in(self, windows: Batch, row: int) -> bool:
        part = windows.parts[row]
        if part is None or self.positions == "pooled":
            return True
        ends = {"first": 0, "last": len(windows.whole_rows[row]) - 1}
        pieces = (ends[self.positions],) if isinstance(self.positions, str) else self.positions
        return not set(pieces).isdisjoint(part)

    @property
    def readout(self) -> StateReadout:
        """Reads the state off a pass."""
        return StateReadout(self.layer, self.positions)

    def resolve(self, states: Tensor) -> "ResolvedState":
        """Fix each example's direction by the states [example width] of the whole texts."""
        states = widened(states.detach())
        return ResolvedState(self, quotient(states, states.norm(dim=-1, keepdim=True)))


@dataclass(frozen=True, eq=False)
class ResolvedState:
    """A hidden state with each example's direction [example width] fixed."""

    of: HiddenState
    directions: Tensor

    @property
    def readout(self) -> StateReadout:
        """Reads the state off a pass."""
        return self.of.readout

    def values(self, states: Tensor) -> Tensor:
        """[example width] -> [example]: each state's length along its direction."""
        return (states * self.directions.to(states)).sum(-1)

    def values_of(self, example: int, states: Tensor) -> Tensor:
        """[variant width] -> [variant]: the same for variants of one example."""
        return states @ self.directions[example].to(states)

    def select(self, indices: Sequence[int]) -> "ResolvedState":
        """The target of these examples."""
        return ResolvedState(self.of, self.directions[list(indices)])

    def explained(self, example: int, answer: Tensor, labels: Sequence[str]) -> Explained:
        """The explained value with its name; answer: the example's own state [width]."""
        where = self.of.positions if isinstance(self.of.positions, str) else f"pieces {self.of.positions}"
        value = float(self.values_of(example, answer[None].double()))
        return Explained(f"layer {self.of.layer}", None, f"hidden state ({where})", value)
