"""Permuted: how many right answers are lost when the weights of a text change places at random.

Jain & Wallace (2019), "Attention is not Explanation", section 4.2.1; Tutek & Šnajder (2020), "Staying True to Your Word", table
1, take one permutation, we the mean of ten, and report their deviation (corrections.md A4.4).
"""

from torch import Tensor

from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.kinds import attention_tests
from pellucid.evaluation.shared.weighed_texts import WeighedText, fall_of_right_answers, permutations


@attention_tests.add(
    better="higher",
    lowest=-1.0,
    highest=1.0,
    random=True,
    idle=0.0,
    meaning="The share of right answers that is lost when the weights of each text change places at random.",
)
def permuted(text: WeighedText, *, n_permutations: int = 10, seed: int = 0) -> Tensor:
    """[permutation]: right with the model's own weights less right with permuted ones; 0 of equal weights."""
    at_least("n_permutations", n_permutations, 1)
    return fall_of_right_answers(text, permutations(text, n_permutations, seed, "permuted weights"))
