"""Kendall's tau of the weights with the gradient: do both rank the words of a text alike?

Jain & Wallace (2019), "Attention is not Explanation", section 4.1 and algorithm 1.
"""

from torch import Tensor

from pellucid.core.foundation.kinds import attention_tests
from pellucid.evaluation.shared.weighed_texts import WeighedText
from pellucid.evaluation.shared.weight_ranking import kendall_tau


@attention_tests.add(
    better="higher",
    lowest=-1.0,
    highest=1.0,
    needs="explainer",
    method="gradient",
    idle=0.0,
    meaning="Whether the weights rank the words of a text as the size of the gradient does: 1 alike, 0 as chance, −1 the other way round.",
)
def tau_gradient(text: WeighedText) -> Tensor:
    """[1]: Kendall's tau-b of the words' weights and the sizes of their gradients; nan where either is constant."""
    return kendall_tau(text, "gradient")
