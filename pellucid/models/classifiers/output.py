"""What a composed network returns: logits, and its pooler's own weights."""

from dataclasses import dataclass

from torch import Tensor

from pellucid.core.passes.trace import StateTrace
from pellucid.models.pooling.pooled import OwnWeights


@dataclass(frozen=True, kw_only=True)
class Output(OwnWeights):
    """logits: [batch class]. states: what the encoder made of the word vectors; None where the network shows neither."""

    logits: Tensor
    states: StateTrace | None = None
