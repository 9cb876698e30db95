"""Median change: how far the answer moves when the weights of a text change places at random.

Jain & Wallace (2019), "Attention is not Explanation", section 4.2.1: the median of 100 permutations, here as total variation
distance (corrections.md A4.2), which for two classes is the change of the probability.
"""

from torch import Tensor

from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.kinds import attention_tests
from pellucid.evaluation.shared.weighed_texts import WeighedText, changes_of_answer, permutations


@attention_tests.add(
    better="higher",
    lowest=0.0,
    highest=1.0,
    random=True,
    idle=0.0,
    meaning="How far the answer's probabilities move when the weights of a text change places: the median of its permutations.",
)
def median_change(text: WeighedText, *, n_permutations: int = 100, seed: int = 0) -> Tensor:
    """[1]: the median distance of the answers with permuted weights from the model's own; 0 of equal weights."""
    at_least("n_permutations", n_permutations, 1)
    moved = changes_of_answer(text, permutations(text, n_permutations, seed, "median change"))
    return moved.quantile(0.5)[None]  # of an even number the mean of the middle two, as usual
