"""What a composed network answers: logits, and what its pooler says of itself."""

from dataclasses import dataclass

from torch import Tensor

from pellucid.core.passes.trace import GateTrace, SpanTrace


@dataclass(frozen=True)
class Output:
    """logits: [batch class]. spans, gates: the model's own weights, or its choice of words, if its pooler has any."""

    logits: Tensor
    spans: SpanTrace | None
    gates: GateTrace | None = None
