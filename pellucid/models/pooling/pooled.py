"""What a pooler returns: one vector a text and, if it explains itself, its own weights."""

from dataclasses import dataclass, fields
from typing import Any

from torch import Tensor

from pellucid.core.passes.trace import GateTrace, SpanTrace, UnitTrace


@dataclass(frozen=True, kw_only=True)
class OwnWeights:
    """The weights of a self-explaining pooler; None where it has no such weights.

    A new kind of weights is a field here and in `core.passes.trace.Trace`; the code between them passes all fields on.
    """

    spans: SpanTrace | None = None
    gates: GateTrace | None = None
    units: UnitTrace | None = None

    @property
    def weights(self) -> SpanTrace | UnitTrace | None:
        """Those weights that sum to 1, of spans or of units."""
        return self.units if self.spans is None else self.spans

    @property
    def own_weights(self) -> dict[str, Any]:  # Any: to be handed on as keyword arguments
        """The fields of this class by name, also of a class with more."""
        return {each.name: getattr(self, each.name) for each in fields(OwnWeights)}


@dataclass(frozen=True, kw_only=True)
class Pooled(OwnWeights):
    """vector: [batch width]."""

    vector: Tensor
