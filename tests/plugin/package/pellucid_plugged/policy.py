"""Plugged policy: conservative propagation, from another package.

Doe (2030), "On Shares".
"""

from contextlib import AbstractContextManager

from torch import nn

from pellucid.attribution.backward.mode import backward_rules
from pellucid.attribution.backward.rules import COMMON
from pellucid.base.kinds import policies
from pellucid.run.policy_pass import Ledger


@policies.add(conserves=True)
def plugged_policy(ledger: Ledger, network: nn.Module) -> AbstractContextManager:
    """The rules that all policies share."""
    return backward_rules(network, ledger, COMMON)
