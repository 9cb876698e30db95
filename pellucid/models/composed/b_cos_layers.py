"""B-cos layers: an encoder without constants whose linear layers weigh each output by how well the input is aligned with its weights.

Böhle, Fritz and Schiele (2022), "B-cos Networks: Alignment is All We Need for Interpretability", equation 3, with pretrained layers
turned into such ones as in Wang et al. (2025), "B-cos LM". For a text such a network is a linear map, so its answer is a sum over
its words. Here weights are not brought to length 1, so that with an exponent of 1 a layer is what it was without its bias.
"""

from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import handle_torch_function, has_torch_function

from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.kinds import poolers
from pellucid.core.passes.precision import widened
from pellucid.models.families.encoder import Encoder

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


# What relevance looks for, as in relevance/functions.py: the kind of function, and its steps where these meet rules of their own.
aligned.kind, aligned.steps = "scaling", _steps  # type: ignore[attr-defined]


class BCosLinear(nn.Linear):
    """A linear layer without a bias whose outputs are weighed by alignment."""

    def forward(self, input: Tensor) -> Tensor:
        """[... input] -> [... output]"""
        return aligned(F.linear(input, self.weight), input, self.weight)


def with_b_cos_layers(encoder: Encoder, source: str) -> Encoder:
    """The same encoder with B-cos layers in place of its linear ones, and without any bias; one that has them stays as it is.

    source: its name for messages. Raises `BadSetting` for an encoder with constants in other layers, or that has a decoder beside it,
    which reads the words once more.
    """
    if getattr(encoder.config, "is_encoder_decoder", False):
        raise BadSetting(
            f"form='b_cos' needs an encoder alone, and {source} has a decoder, which reads the words once more; give an encoder such as "
            "minilm, or leave form away."
        )
    for module in encoder.modules():  # type: ignore[attr-defined]  # every encoder is a module
        if type(module) is nn.Linear:
            module.__class__ = BCosLinear
        if isinstance(module, nn.Linear | nn.LayerNorm) and module.bias is not None:
            module.register_parameter("bias", None)
    constants = [name for name, _ in encoder.named_parameters() if "bias" in name.rsplit(".", 1)[-1]]  # type: ignore[attr-defined]
    if constants:
        raise BadSetting(
            f"form='b_cos' needs an encoder without constants, and those of {source} in {constants[0]} cannot be left away; give an "
            "encoder of linear layers and layer norms, such as minilm, or leave form away."
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
