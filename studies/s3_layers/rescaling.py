"""Table 1 measured: one layer's states are multiplied by a factor and divided by it where the next layer reads them.

The network computes the same answers, and each state holds what it held. So a measure of what a layer holds should not
move; Guan et al. (2019), section 1, say that measures by gradients do.
"""

from copy import deepcopy
from dataclasses import replace

import torch
from torch import Tensor, nn

from pellucid.models.classifiers.classifier import Classifier

FACTOR = 10.0


class _Rescaled(nn.Module):
    """A block that reads states divided by `enter` and gives states multiplied by `leave`."""

    enter: Tensor
    leave: Tensor

    def __init__(self, block: nn.Module, enter: float, leave: float) -> None:
        super().__init__()
        self.block = block
        # Buffers, not numbers: the model's digest then knows of them.
        self.register_buffer("enter", torch.tensor(enter))
        self.register_buffer("leave", torch.tensor(leave))

    def forward(self, states: Tensor, attended: Tensor) -> Tensor:
        states = self.block(states / self.enter, attended)
        return states * self.leave


def rescaled(model: Classifier, layer: int, factor: float = FACTOR) -> Classifier:
    """The same classifier, where the states of one layer (from 1, not the last) are `factor` times as large."""
    network = deepcopy(model.network)
    blocks = network.encoder.blocks
    blocks[layer - 1] = _Rescaled(blocks[layer - 1], 1.0, factor)
    blocks[layer] = _Rescaled(blocks[layer], factor, 1.0)
    return replace(model, network=network, name=f"{model.name}, layer {layer} x {factor:g}")
