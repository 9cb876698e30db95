"""LRP-alpha-beta: CP, in which positive and negative contributions to a linear layer share separately.

Bach et al. (2015), "On Pixel-Wise Explanations for Non-Linear Classifier Decisions by Layer-Wise Relevance
Propagation", equation 60; as Wu & Ong (2021) write it, split by the sign of the contribution (corrections.md A2.3).
"""

from contextlib import AbstractContextManager

import torch
from torch import Tensor, nn

from pellucid.core.foundation.kinds import policies
from pellucid.core.passes.ledger import Ledger
from pellucid.relevance.affine import Affine
from pellucid.relevance.function_call import FunctionCall
from pellucid.relevance.mode import ChangedBackward, backward_rules
from pellucid.relevance.rules import COMMON, linear, times_ratio


@policies.add(conserves=True)
def alpha_beta(ledger: Ledger, network: nn.Module, *, alpha: float = 0.5) -> AbstractContextManager:
    """Positive contributions to an output share alpha of its relevance, negative ones beta = 1 - alpha.

    alpha: any number; 0.5 as Wu & Ong, 1 for positive contributions alone, 2 as Bach et al. Above 1, relevance
    grows from layer to layer before it cancels. An output whose contributions have one sign gives them all its relevance.
    """

    def split(mode: ChangedBackward, call: FunctionCall) -> Tensor:
        layer = Affine.of(call)
        return linear(mode, call) if layer is None else _split(layer, mode.ledger, alpha)

    return backward_rules(network, ledger, {**COMMON, "linear": split})


def _split(layer: Affine, ledger: Ledger, alpha: float) -> Tensor:
    """The output as the sum of its parts, each times a constant that gives it its share."""
    parts = _contributions(layer)
    if layer.bias is not None:
        biases = layer.bias.clamp(min=0), layer.bias.clamp(max=0)
        parts = [ledger.note(part + bias, bias) for part, bias in zip(parts, biases, strict=True)]
    up, down = parts
    output = (up + down).detach()
    share = torch.where(down == 0, 1.0, torch.where(up == 0, 0.0, alpha))
    return times_ratio(up, share * output) + times_ratio(down, (1 - share) * output)


def _contributions(layer: Affine) -> list[Tensor]:
    """Each output's positive contributions, and its negative ones."""
    above, below = layer.input.clamp(min=0), layer.input.clamp(max=0)
    more, less = layer.weight.clamp(min=0), layer.weight.clamp(max=0)
    return [
        layer.apply(above, more) + layer.apply(below, less),
        layer.apply(above, less) + layer.apply(below, more),
    ]
