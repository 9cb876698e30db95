"""AttnLRP: attention's weights carry relevance too, through a first-order softmax and half of each product.

Achtibat et al. (2024), "AttnLRP: Attention-Aware Layer-Wise Relevance Propagation for Transformers", propositions
3.1 (softmax), 3.3 (products) and 3.4 (norms).
"""

from contextlib import AbstractContextManager

from torch import Tensor, nn

from pellucid.core.foundation.kinds import policies
from pellucid.core.passes.ledger import Ledger
from pellucid.relevance.expanded_functions import open_attention
from pellucid.relevance.function_call import FunctionCall
from pellucid.relevance.mode import ChangedBackward, backward_rules
from pellucid.relevance.rules import COMMON


@policies.add(conserves=False)
def attnlrp(ledger: Ledger, network: nn.Module) -> AbstractContextManager:
    """Half of the attention output's relevance goes to the values, half to the weights; the softmax absorbs a part of it."""
    return backward_rules(network, ledger, {**COMMON, "softmax": first_order, "attention": opened})


def first_order(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """The softmax s(x) as J x + (s - J x), the plain gradient and a constant; s - J x = s (1 - x + sum of s x)."""
    scores, output = call.args[0].detach(), call.value()
    weights = output.detach()
    finite = scores.masked_fill(weights == 0, 0.0).to(weights.dtype)  # else minus infinity times 0
    dim = call.argument("dim", 1)
    mean = (weights * finite).sum(dim, keepdim=True)
    # A copy, since the softmax needs its own output in its backward.
    return mode.ledger.note(output.clone(), weights * (1 - finite + mean), "rule")


def opened(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """Fused attention written out, so that its products and its softmax meet their rules."""
    with mode:
        return open_attention(*call.args, **call.kwargs)
