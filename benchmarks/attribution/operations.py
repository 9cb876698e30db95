"""Floating point operations that a pass of BERT's blocks asks for, a token."""

from typing import Any

from torch import nn


def operations_per_token(network: nn.Module, length: float) -> dict[str, float]:
    """Of a forward pass, and of a forward and a backward pass to the words ("both"); length: tokens of a text, the
    mean.

    A weight of a linear layer is one product and one sum; a token's scores by all others, and the mixing of their
    values, are two more of each for every number of its vector. A backward pass to the words needs as many again.
    """
    encoder: Any = network.base_model
    blocks = encoder.encoder.layer
    weights = sum(each.weight.numel() for each in blocks.modules() if isinstance(each, nn.Linear))
    forward = 2 * weights + 4 * len(blocks) * encoder.config.hidden_size * length
    return {"forward": forward, "both": 2 * forward}
