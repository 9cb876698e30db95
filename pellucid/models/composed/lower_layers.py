"""States that have read less of their context: an encoder without its upper blocks, and a learnt mean over the layers.

The mean is that of Peters et al. (2018), "Deep contextualized word representations", equation 1, without its scale.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.overrides import handle_torch_function, has_torch_function

from pellucid.base.errors import BadSetting
from pellucid.base.kinds import encoders, poolers
from pellucid.models.families.encoder import Encoder
from pellucid.run.rounding import widened


def remove_upper_blocks(encoder: Encoder, layer: int, source: str) -> None:
    """Leave the first blocks alone, up to this layer, and write that into the configuration; source: its name for
    messages.

    Raises `BadSetting` for an encoder with fewer blocks, or whose blocks do not stand in one list.
    """
    blocks = _blocks(encoder)
    if blocks is None:
        raise BadSetting(
            f"layer={layer} needs an encoder whose blocks stand in one list, and {source} has none; leave layer away"
            + (", or give encoder_settings layers." if encoder.config.model_type in encoders.names() else ".")
        )
    if layer > len(blocks):
        raise BadSetting(f"layer={layer} is more than the {len(blocks)} blocks of {source}; give one of these.")
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
    """A mean that begins with equal shares; raises `BadSetting` for an encoder that does not give the states of its
    layers.
    """
    if encoder.config.model_type in encoders.names():
        raise BadSetting(
            f"layer_mix=True needs an encoder that gives the states of all layers, and {encoder.config.model_type} "
            f"does not; leave it away."
        )
    return LayerMix(encoder.config.num_hidden_layers)  # type: ignore[attr-defined]


def last_states(encoder: Encoder, columns: Mapping[str, Tensor]) -> Tensor:
    """[batch piece width]: an encoder's last states for columns [batch piece]."""
    return encoder(**columns).last_hidden_state


# B-cos layers: an encoder without constants whose linear layers weigh each output by how well the input is aligned
# with its weights.
#
# Böhle, Fritz and Schiele (2022), "B-cos Networks: Alignment is All We Need for Interpretability", equation 3, with
# pretrained layers turned into such ones as in Wang et al. (2025), "B-cos LM". For a text such a network is a linear
# map, so its answer is a sum over its words. Here weights are not brought to length 1, so that with an exponent of 1
# a layer is what it was without its bias.

B_COS = "b_cos"
# B; 1 weighs nothing. Saved models were trained with this one: another exponent is another form.
EXPONENT = 1.25
SMALLEST = 1e-6  # cosines below count as this one, and lengths below as this long


def aligned(output: Tensor, inputs: Tensor, weight: Tensor) -> Tensor:
    """[... output]: output times |cos of inputs and weight| to the power B - 1.

    output: inputs times weight, [... output]. inputs: [... input]. weight: [output input].
    """
    if has_torch_function((output, inputs)):  # relevance sees one function: output times a factor
        scaled: Tensor = handle_torch_function(aligned, (output, inputs), output, inputs, weight)
        return scaled
    return _steps(output, inputs, weight)


def _steps(output: Tensor, inputs: Tensor, weight: Tensor) -> Tensor:
    """`aligned` in functions that DeepLIFT has rules for."""
    of_inputs = widened(inputs).square().sum(-1, keepdim=True).clamp(min=SMALLEST**2).sqrt()
    of_weight = widened(weight).square().sum(-1).clamp(min=SMALLEST**2).sqrt()
    cosines = (widened(output) / of_inputs / of_weight).abs()
    return output * cosines.clamp(min=SMALLEST).pow(EXPONENT - 1).to(output.dtype)


# What relevance looks for, as in attribution/backward/mode.py: the kind of function, and its steps where these meet
# rules of their own.
aligned.kind, aligned.steps = "scaling", _steps  # type: ignore[attr-defined]


class BCosLinear(nn.Linear):
    """A linear layer without a bias whose outputs are weighed by alignment."""

    def forward(self, input: Tensor) -> Tensor:
        """[... input] -> [... output]"""
        return aligned(F.linear(input, self.weight), input, self.weight)


def with_b_cos_layers(encoder: Encoder, source: str) -> Encoder:
    """The same encoder with B-cos layers in place of its linear ones, and without any bias; one that has them stays as
    it is.

    source: its name for messages. Raises `BadSetting` for an encoder with constants in other layers, or that has a
    decoder beside it, which reads the words once more.
    """
    if getattr(encoder.config, "is_encoder_decoder", False):
        raise BadSetting(
            f"form='b_cos' needs an encoder alone, and {source} has a decoder, which reads the words once more; give "
            f"an encoder such as minilm, or leave form away."
        )
    for module in encoder.modules():  # type: ignore[attr-defined]  # every encoder is a module
        if type(module) is nn.Linear:
            module.__class__ = BCosLinear
        if isinstance(module, nn.Linear | nn.LayerNorm) and module.bias is not None:
            module.register_parameter("bias", None)
    constants = [name for name, _ in encoder.named_parameters() if "bias" in name.rsplit(".", 1)[-1]]  # type: ignore[attr-defined]
    if constants:
        raise BadSetting(
            f"form='b_cos' needs an encoder without constants, and those of {source} in {constants[0]} cannot be left "
            f"away; give an encoder of linear layers and layer norms, such as minilm, or leave form away."
        )
    return encoder


def has_b_cos_layers(encoder: Encoder) -> bool:
    """Whether an encoder's linear layers are B-cos layers."""
    return any(isinstance(module, BCosLinear) for module in encoder.modules())  # type: ignore[attr-defined]


def check_form(form: str, pooler: str) -> None:
    """Raise `BadSetting` for a form that there is not, or a pooler that does not add up states."""
    if form not in ("", B_COS):
        raise BadSetting(f"form={form!r} is not possible; give 'b_cos', or leave form away.")
    if form and not poolers.get(pooler).facts["linear"]:
        raise BadSetting(
            f"form='b_cos' makes the answer a sum over words, which pooler={pooler!r} is not; give {fitting_poolers()}."
        )


def fitting_poolers() -> str:
    """The poolers that the form fits, as a message lists them."""
    fitting = [name for name in poolers.names() if poolers.get(name).facts["linear"]]
    return f"pooler={' or '.join(map(repr, fitting))}"


# One bidirectional LSTM over the pieces that are attended; those that are not are passed over, as if they were not
# there.


class BidirectionalLayer(nn.Module):
    """hidden: numbers of a state from each direction; "forward" and "backward" are the two halves of a state."""

    def __init__(self, size: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.parts = {"forward": slice(0, hidden), "backward": slice(hidden, 2 * hidden)}
        self.lstm = nn.LSTM(size, hidden, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, attended: Tensor) -> Tensor:
        """[batch piece size] -> [batch piece width], 0 where nothing is attended."""
        order = attended.long().argsort(dim=1, descending=True, stable=True)  # attended pieces first
        lengths = attended.sum(1).clamp_min(1).cpu()
        close = states.gather(1, order[..., None].expand_as(states))
        packed = pack_padded_sequence(close, lengths, batch_first=True, enforce_sorted=False)
        # cuDNN has no backward outside training, where explanations are made.
        with torch.backends.cudnn.flags(enabled=torch.backends.cudnn.enabled and self.training):
            outputs = self.lstm(packed)[0]
        read = pad_packed_sequence(outputs, batch_first=True, total_length=states.shape[1])[0]
        back = order.argsort(dim=1)[..., None].expand_as(read)
        return self.dropout(read.gather(1, back) * attended[..., None])
