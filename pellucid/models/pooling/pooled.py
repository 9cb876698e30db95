"""What a pooler returns: one vector a text and, if it explains itself, its own weights."""

from dataclasses import dataclass

from torch import Tensor

from pellucid.core.passes.trace import SpanTrace


@dataclass(frozen=True)
class Pooled:
    """vector: [batch width]. spans: the weights of a span pooler."""

    vector: Tensor
    spans: SpanTrace | None = None
