"""Unit probability: the probability of the answer that each unit's state has alone, on right answers, text by text.

Tutek & Šnajder (2020), "Staying True to Your Word", section 5.3 and table 3; of the predicted class, first over the units of a
text and then over texts (corrections.md A4.10).
"""

import torch
from torch import Tensor

from pellucid.core.foundation.kinds import attention_tests
from pellucid.evaluation.shared.weighed_texts import WeighedText


@attention_tests.add(
    better="lower",
    lowest=0.0,
    highest=1.0,
    meaning="The probability of the right answer by the state of one unit alone, mean over the units of a text: near the model's own, "
    "every state carries the whole text.",
)
def unit_probability(text: WeighedText) -> Tensor:
    """[1]: the mean over units of the predicted class's probability by the unit's state alone; nan where the answer is not right."""
    if text.label != text.predicted:
        return torch.full((1,), torch.nan, dtype=torch.float64)
    return mean_unit_probability(text)[None]


def mean_unit_probability(text: WeighedText) -> Tensor:
    """The mean over units of the predicted class's probability, were all weight on that unit; of right and wrong answers."""
    return text.unit_logits.softmax(-1)[:, text.predicted].mean()
