"""Kendall's tau of the weights with leave-one-out: do the heavy words move the answer most when they are left out?

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
    method="leave_one_out",
    idle=0.0,
    meaning="Whether the weights rank the words of a text by how far the answer moves without each: 1 alike, 0 as chance, −1 the other "
    "way round.",
)
def tau_leave_one_out(text: WeighedText) -> Tensor:
    """[1]: Kendall's tau-b of the words' weights and how far the probability moves without them; nan where either is constant."""
    return kendall_tau(text, "leave_one_out")
