"""DeepLIFT's rescale rule, for texts that run above their baselines in one batch; the method deep_lift_shap's policy.

Shrikumar et al. (2017), "Learning Important Features Through Propagating Activation Differences".
"""

from contextlib import AbstractContextManager

from torch import nn

from pellucid.core.foundation.kinds import policies
from pellucid.core.passes.ledger import Ledger
from pellucid.relevance.mode import backward_rules
from pellucid.relevance.pairs import RESCALE


@policies.add(conserves=True, method="deep_lift_shap")
def rescale(ledger: Ledger, network: nn.Module) -> AbstractContextManager:
    """Multipliers instead of gradients; multiplier x difference from the baseline sums to the difference of the outputs."""
    return backward_rules(network, ledger, RESCALE)
