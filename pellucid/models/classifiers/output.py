"""What a composed network returns: logits, and its pooler's own weights."""

from dataclasses import dataclass

from torch import Tensor

from pellucid.models.pooling.pooled import OwnWeights


@dataclass(frozen=True, kw_only=True)
class Output(OwnWeights):
    """logits: [batch class]."""

    logits: Tensor
