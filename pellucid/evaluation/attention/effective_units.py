"""Effective units: how many units share the weight, as 1 / sum of alpha squared.

Hill (1973), "Diversity and Evenness: A Unifying Notation and Its Consequences", number of order 2.
"""

from torch import Tensor

from pellucid.core.foundation.kinds import attention_tests
from pellucid.evaluation.shared.weighed_texts import WeighedText


@attention_tests.add(
    better="lower",
    lowest=1.0,
    highest=1e9,
    meaning="How many units of a text share the weight: 1 where one has all of it, the number of units where all are equal.",
)
def effective_units(text: WeighedText) -> Tensor:
    """[1]: 1 / sum of alpha squared, from 1 to the number of units."""
    return (1 / text.weights.square().sum())[None]
