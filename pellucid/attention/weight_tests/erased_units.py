"""Tests of attention that hold weights against what erasing, or a gradient, says of units."""

import math

import numpy as np
import torch
from torch import Tensor

from pellucid.attention.weighed_texts import WeighedText, kendall_tau
from pellucid.base.checks import between
from pellucid.base.kinds import attention_tests
from pellucid.run.readout import jensen_shannon


@attention_tests.add(
    better="higher",
    lowest=-math.log(2),
    highest=math.log(2),
    idle=0.0,
    meaning="How much farther the answer moves when the heaviest unit loses its weight than when another one does, in nats.",
)
def heaviest_erased(text: WeighedText) -> Tensor:
    """[1]: divergence of the answers without the heaviest unit less that without another one, in nats; above 0 speaks for it.

    Does the answer move more when the heaviest unit loses its weight than when another one does?

    Source: Serrano & Smith (2019), "Is Attention Interpretable?", section 4.1: the difference of
    Jensen-Shannon divergences. They draw one other unit; we take the mean over all others, which is
    what the draw estimates.

    The other weights are divided by their sum; where one unit has all weight, the others share it equally.
    """
    own = text.logits(text.weights[None]).softmax(-1)
    heaviest, count = int(text.weights.argmax()), len(text)
    moved = jensen_shannon(_without_each(text, heaviest).softmax(-1), own.expand(count, -1))
    return (moved[heaviest] - (moved.sum() - moved[heaviest]) / (count - 1))[None]


def _without_each(text: WeighedText, heaviest: int) -> Tensor:
    """[erased unit, class]: the logits without each unit, (logits - alpha l) / (1 - alpha).

    Only the heaviest unit's alpha can be near 1, where that quotient is rounding: its others are summed instead.
    """
    alpha = text.weights[:, None]
    others = text.weights.clone()
    others[heaviest] = 0
    if others.sum() == 0:
        others = torch.ones_like(others)
        others[heaviest] = 0
    rest = 1 - alpha
    rest[heaviest] = 1
    logits = (text.logits(text.weights[None]) - alpha * text.unit_logits) / rest
    logits[heaviest] = text.logits(others[None] / others.sum())[0]
    return logits


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

    Is the heaviest word one of those that the answer depends on, more often than a word drawn at
    random?

    Source: The question of Serrano & Smith (2019), "Is Attention Interpretable?", put to the text in
    place of the weights: a word is left out of the text, not its state out of the sum. Weights that a
    state of a neighbour can stand in for (Pruthi et al. 2020, "Learning to Deceive with Attention-Based
    Explanations") pass tests of the sum, and fail here.

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
    """[1]: Kendall's tau-b of the words' weights and how far the probability moves without them; nan where either is constant.

    Kendall's tau of the weights with leave-one-out: do the heavy words move the answer most when they
    are left out?

    Source: Jain & Wallace (2019), "Attention is not Explanation", section 4.1 and algorithm 1.
    """
    return kendall_tau(text, "leave_one_out")


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
    """[1]: Kendall's tau-b of the words' weights and the sizes of their gradients; nan where either is constant.

    Kendall's tau of the weights with the gradient: do both rank the words of a text alike?

    Source: Jain & Wallace (2019), "Attention is not Explanation", section 4.1 and algorithm 1.
    """
    return kendall_tau(text, "gradient")
