"""Permuted: how many right answers are lost when the weights of a text change places at random.

Jain & Wallace (2019), "Attention is not Explanation", section 4.2.1; Tutek & Šnajder (2020), "Staying True to Your Word", table
1, take one permutation, we the mean of ten, and report their deviation (corrections.md A4.4).
"""

import torch
from torch import Tensor

from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.kinds import attention_tests
from pellucid.core.passes.seeds import generator_for
from pellucid.evaluation.shared.weighed_texts import WeighedText, fall_of_right_answers


@attention_tests.add(better="higher", lowest=-1.0, highest=1.0, random=True)
def permuted(text: WeighedText, *, n_permutations: int = 10, seed: int = 0) -> Tensor:
    """[permutation]: right with the model's own weights less right with permuted ones; 0 of equal weights."""
    at_least("n_permutations", n_permutations, 1)
    generator = generator_for(text.row, "permuted weights", seed)
    # Sorted noise: a hundred calls of randperm took as long as a text's share of the forward pass.
    orders = torch.rand(n_permutations, len(text), generator=generator, dtype=torch.float64).argsort(1)
    return fall_of_right_answers(text, text.weights[orders])
