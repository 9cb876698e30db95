"""CP: attention weights and the deviations in norms are constants; all other inputs share in proportion.

Ali et al. (2022), "XAI for Transformers: Better Explanations through Conservative Propagation", section 4.
"""

from contextlib import AbstractContextManager
from typing import Literal, get_args

from torch import nn

from pellucid.core.foundation.checks import one_of
from pellucid.core.foundation.kinds import policies
from pellucid.core.passes.ledger import Ledger
from pellucid.relevance.mode import backward_rules
from pellucid.relevance.rules import COMMON

Activation = Literal["pass", "gradient"]


@policies.add(conserves=True)
def cp(ledger: Ledger, network: nn.Module, *, activation: Activation = "pass") -> AbstractContextManager:
    """Conservative propagation: relevance reaches a word through the values that attention mixes.

    activation: "pass" hands relevance through an activation unchanged, whatever its derivative (Wu & Ong 2021, appendix A);
    "gradient" multiplies it by derivative times input, as gradient x input does, so that a GELU, which is not monotone, can turn its
    sign, and relevance is not conserved.
    """
    one_of("activation", activation, get_args(Activation))
    rules = dict(COMMON)
    if activation == "gradient":
        del rules["activation"]
    return backward_rules(network, ledger, rules)
