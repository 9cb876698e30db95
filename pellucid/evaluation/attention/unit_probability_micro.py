"""Unit probability over all units: the same number, in which long texts count more.

Tutek & Šnajder (2020), "Staying True to Your Word", table 3, where the average is not stated (corrections.md A4.10).
"""

from torch import Tensor

from pellucid.core.foundation.kinds import attention_tests
from pellucid.evaluation.attention.unit_probability import unit_probability
from pellucid.evaluation.shared.weighed_texts import WeighedText


@attention_tests.add(
    better="lower",
    lowest=0.0,
    highest=1.0,
    average="units",
    meaning="The probability of the right answer by the state of one unit alone, mean over all units of all texts.",
)
def unit_probability_micro(text: WeighedText) -> Tensor:
    """[1]: as `unit_probability`; its outcome is the mean over the units of all texts."""
    return unit_probability(text)
