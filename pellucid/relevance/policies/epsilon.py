"""LRP-epsilon: CP, with a stabiliser in the denominator of every linear layer.

Bach et al. (2015), "On Pixel-Wise Explanations for Non-Linear Classifier Decisions by Layer-Wise Relevance
Propagation", equation 58.
"""

from contextlib import AbstractContextManager

from torch import Tensor, nn

from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.kinds import policies
from pellucid.core.passes.ledger import Ledger
from pellucid.relevance.affine import Affine
from pellucid.relevance.function_call import FunctionCall
from pellucid.relevance.mode import ChangedBackward, backward_rules
from pellucid.relevance.rules import COMMON, linear


@policies.add(conserves=True)
def epsilon(ledger: Ledger, network: nn.Module, *, epsilon: float = 1e-6) -> AbstractContextManager:
    """Inputs of a linear layer share in proportion to their contributions; near 0, outputs lose relevance to a stabiliser.

    epsilon: the stabiliser, added to each output with the output's sign.
    """
    at_least("epsilon", epsilon, 0)

    def stabilised(mode: ChangedBackward, call: FunctionCall) -> Tensor:
        output = linear(mode, call)
        if Affine.of(call) is None:
            return output
        absorbed = epsilon / (output.detach().abs() + epsilon)
        same_value = output * (1 - absorbed) + (output * absorbed).detach()
        return mode.ledger.note(same_value, output * absorbed, "rule")

    return backward_rules(network, ledger, {**COMMON, "linear": stabilised})
