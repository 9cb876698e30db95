"""Plugged policy: conservative propagation, from another package.

Doe (2030), "On Shares".
"""

from contextlib import AbstractContextManager

from torch import nn

from pellucid.core.foundation.kinds import policies
from pellucid.core.passes.policy_pass import Ledger
from pellucid.relevance.mode import backward_rules
from pellucid.relevance.rules import COMMON


@policies.add(conserves=True)
def plugged_policy(ledger: Ledger, network: nn.Module) -> AbstractContextManager:
    """The rules that all policies share."""
    return backward_rules(network, ledger, COMMON)
