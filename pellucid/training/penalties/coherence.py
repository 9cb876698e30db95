"""Coherence: a price on every change between read and not read, so that the words that are read stand together.

Lei, Barzilay and Jaakkola (2016), equation 3, second term; the expectation of Bastings, Aziz and Titov (2019), section 4.2.
They add up changes; a share keeps the weight's meaning for texts of any length.
"""

from torch import Tensor

from pellucid.core.foundation.kinds import penalties
from pellucid.core.passes.trace import GateTrace


@penalties.add(reads="gates")
def coherence(gates: GateTrace) -> Tensor:
    """[example]: expected changes between neighbouring words of one text, divided by its words; 0 to below 1."""
    return gates.expected_changes
