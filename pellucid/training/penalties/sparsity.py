"""Sparsity: a price on every word that is read, for models that choose their words.

Lei, Barzilay and Jaakkola (2016), equation 3, first term; the expectation of Bastings, Aziz and Titov (2019), section 4.2.
They add up words; a share keeps the weight's meaning for texts of any length, and is the coverage.
"""

from torch import Tensor

from pellucid.core.foundation.kinds import penalties
from pellucid.core.passes.trace import GateTrace


@penalties.add(reads="gates")
def sparsity(gates: GateTrace) -> Tensor:
    """[example]: the expected share of words that are read, 0 to 1."""
    return gates.expected_coverage
