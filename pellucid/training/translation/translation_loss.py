"""The loss of a translator: smoothed cross-entropy of each piece after those before it, and penalties of span weights."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from pellucid.core.foundation.kinds import penalties
from pellucid.models.translation.explained_decoder import span_readings
from pellucid.training.translation.encoded_pairs import NOT_LEARNT


def translation_loss(
    network: Any,  # an encoder–decoder of some family
    inputs: Mapping[str, Tensor],
    label_smoothing: float,
    weights: Mapping[str, float],
) -> Tensor:
    """The mean over the written pieces of a batch, in nats.

    weights: name of a penalty -> its weight. Penalties are means over written pieces too: each step of the decoder counts as
    one example of those that they read.
    """
    with span_readings(network) as readings:
        logits = network(**inputs, use_cache=False, return_dict=True).logits
    labels = inputs["labels"]
    loss = functional.cross_entropy(
        logits.float().flatten(0, 1),
        labels.flatten(),
        ignore_index=NOT_LEARNT,
        label_smoothing=label_smoothing,
    )
    there = labels != NOT_LEARNT
    for name, weight in weights.items():
        if weight and readings:
            loss = loss + weight * penalties.get(name).make(readings[0])[there].mean()
    return loss


@torch.no_grad()
def piece_losses(network: Any, inputs: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:  # Any: see above
    """[batch piece] each: the loss of every written piece, 0 in padding, and whether it is the likeliest one."""
    logits = network(**inputs, use_cache=False, return_dict=True).logits.float()
    labels = inputs["labels"]
    losses = functional.cross_entropy(
        logits.transpose(1, 2), labels, ignore_index=NOT_LEARNT, reduction="none"
    )
    return losses, (logits.argmax(-1) == labels) & (labels != NOT_LEARNT)
