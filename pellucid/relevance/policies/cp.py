"""CP: attention weights and the deviations in norms are constants; all other inputs share in proportion.

Ali et al. (2022), "XAI for Transformers: Better Explanations through Conservative Propagation", section 4.
"""

from contextlib import AbstractContextManager

from torch import nn

from pellucid.core.foundation.kinds import policies
from pellucid.core.passes.ledger import Ledger
from pellucid.relevance.mode import backward_rules
from pellucid.relevance.rules import COMMON


@policies.add(conserves=True)
def cp(ledger: Ledger, network: nn.Module) -> AbstractContextManager:
    """Conservative propagation: relevance reaches a word through the values that attention mixes."""
    return backward_rules(network, ledger, COMMON)
