"""States that have read less of their context: an encoder without its upper blocks, and a learnt mean over the layers.

The mean is that of Peters et al. (2018), "Deep contextualized word representations", equation 1, without its scale.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.kinds import encoders
from pellucid.models.families.encoder import Encoder


def remove_upper_blocks(encoder: Encoder, layer: int, source: str) -> None:
    """Leave the first blocks alone, up to this layer, and write that into the configuration; source: its name for messages.

    Raises `BadSetting` for an encoder with fewer blocks, or whose blocks do not stand in one list.
    """
    blocks = _blocks(encoder)
    if blocks is None:
        raise BadSetting(
            f"layer={layer} needs an encoder whose blocks stand in one list, and {source} has none; leave layer away"
            + (", or give encoder_settings layers." if encoder.config.model_type in encoders.names() else ".")
        )
    if layer > len(blocks):
        raise BadSetting(
            f"layer={layer} is more than the {len(blocks)} blocks of {source}; give one of these."
        )
    del blocks[layer:]
    encoder.config.num_hidden_layers = layer  # type: ignore[attr-defined]  # every configuration with blocks has it


def _blocks(encoder: Encoder) -> nn.ModuleList | None:
    """The list of blocks of an encoder of Hugging Face's; None where no list is as long as there are blocks."""
    count = getattr(encoder.config, "num_hidden_layers", None)
    if encoder.config.model_type in encoders.names():  # their settings say how many blocks they have
        return None
    lists = (module for _, module in encoder.named_modules() if isinstance(module, nn.ModuleList))
    return next((module for module in lists if len(module) == count), None)


class LayerMix(nn.Module):
    """A learnt mean of the states of all layers, of which the lowest is what the first block reads."""

    def __init__(self, n_layers: int) -> None:
        super().__init__()
        self.scores = nn.Parameter(torch.zeros(n_layers + 1))

    @property
    def weights(self) -> Tensor:
        """[layer]: the share of each, which add up to 1."""
        return self.scores.softmax(0)

    def forward(self, encoder: Encoder, columns: Mapping[str, Tensor]) -> Tensor:
        """[batch piece width]: the mean of an encoder's states for columns [batch piece]."""
        states = encoder(**columns, output_hidden_states=True).hidden_states  # type: ignore[arg-type, attr-defined]
        weights = self.weights
        return torch.stack([weights[layer] * state for layer, state in enumerate(states)]).sum(0)


def layer_mix_of(encoder: Encoder) -> LayerMix:
    """A mean that begins with equal shares; raises `BadSetting` for an encoder that does not give the states of its layers."""
    if encoder.config.model_type in encoders.names():
        raise BadSetting(
            f"layer_mix=True needs an encoder that gives the states of all layers, and {encoder.config.model_type} does not; leave "
            "it away."
        )
    return LayerMix(encoder.config.num_hidden_layers)  # type: ignore[attr-defined]


def last_states(encoder: Encoder, columns: Mapping[str, Tensor]) -> Tensor:
    """[batch piece width]: an encoder's last states for columns [batch piece]."""
    return encoder(**columns).last_hidden_state
