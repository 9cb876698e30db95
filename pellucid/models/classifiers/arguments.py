"""The arguments of one call of a network."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from torch import Tensor

from pellucid.core.passes.trace import GateTrace
from pellucid.models.pooling.piece_tensors import PieceTensors


@dataclass(frozen=True)
class Arguments:
    """What a network's forward takes: columns by name, or, of a composed network, a record of piece tensors.

    columns: [batch piece] each; empty for a composed network. gates: what a network that reads twice chose by its first
    reading.
    """

    columns: dict[str, Tensor] = field(default_factory=dict)
    pieces: PieceTensors | None = None
    gates: GateTrace | None = None

    @property
    def ids(self) -> Tensor:
        """[batch piece]: the tokens' ids."""
        return self.columns["input_ids"] if self.pieces is None else self.pieces.input_ids

    def keywords(self) -> dict[str, Tensor | PieceTensors | GateTrace]:
        """As keyword arguments: `network(**arguments.keywords())`."""
        records = {"pieces": self.pieces, "gates": self.gates}
        return {**self.columns, **{name: record for name, record in records.items() if record is not None}}

    def window(self, pieces: Sequence[int]) -> "Arguments":
        """These pieces of the text alone; their positions count from the first one on."""
        if self.pieces is not None:
            return Arguments(pieces=self.pieces.window(pieces))
        columns = {name: column[:, list(pieces)] for name, column in self.columns.items()}
        if "position_ids" in columns:
            columns["position_ids"] = self.columns["position_ids"][:, : len(pieces)]
        return Arguments(columns)
