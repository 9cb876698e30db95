"""What a composed network answers: logits, and what its pooler says of itself."""

from dataclasses import dataclass

from torch import Tensor

from pellucid.models.pooling.pooled import OwnWeights


@dataclass(frozen=True, kw_only=True)
class Output(OwnWeights):
    """logits: [batch class]."""

    logits: Tensor
