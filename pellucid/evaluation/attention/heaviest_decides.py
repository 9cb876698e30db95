"""Heaviest decides: is the heaviest word one of those that the answer depends on, more often than a word drawn at random?

The question of Serrano & Smith (2019), "Is Attention Interpretable?", put to the text in place of the weights: a word is left out
of the text, not its state out of the sum. Weights that a state of a neighbour can stand in for (Pruthi et al. 2020, "Learning to
Deceive with Attention-Based Explanations") pass tests of the sum, and fail here.
"""

import numpy as np
import torch
from torch import Tensor

from pellucid.core.foundation.checks import between
from pellucid.core.foundation.kinds import attention_tests
from pellucid.evaluation.shared.weighed_texts import WeighedText

HALF = 0.5  # of the farthest move: "order" and pairs of words decide together, and none of them alone is the one word


@attention_tests.add(
    better="higher",
    lowest=-1.0,
    highest=1.0,
    needs="explainer",
    method="leave_one_out",
    idle=0.0,
    meaning="How much more often than a random word the heaviest one is among those without which the answer moves farthest.",
)
def heaviest_decides(text: WeighedText, *, least: float = 0.1) -> Tensor:
    """[1]: 1 where the answer moves without the heaviest word at least half as far as without any, less the share of such words.

    0 on average of weights that have nothing to do with the answer. least: texts whose probability no single word moves so far
    are left out (nan): there is nothing to point at.
    """
    between("least", least, 0.0, 1.0)
    weights, moves = (np.abs(values) for values in text.rankings["leave_one_out"])
    if not len(moves) or moves.max() < least or moves.max() == 0:
        return torch.full((1,), torch.nan, dtype=torch.float64)
    decides = moves >= HALF * moves.max()
    heaviest = weights == weights.max()  # equal weights point at all of them, and so at none more than chance
    return torch.tensor([decides[heaviest].mean() - decides.mean()], dtype=torch.float64)
