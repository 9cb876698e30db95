"""The weights farthest from a model's own that keep its answer, text by text.

Jain & Wallace (2019), "Attention is not Explanation", section 4.2.2. They let Adam climb for 500 steps from five random starts,
with a penalty on answers that move. The head is linear, so the answer is a function of as many numbers as there are classes, and
weights on at most that many units reach every answer. That, and that the divergence is convex, makes the search short.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from pellucid.core.foundation.checks import between
from pellucid.evaluation.shared.weighed_texts import WeighedText
from pellucid.evaluation.weight_search.answer_region import AnswerRegion
from pellucid.evaluation.weight_search.several_classes import farthest_of_several_classes
from pellucid.evaluation.weight_search.two_classes import farthest_of_two_classes

FEWEST = 2  # units


@dataclass(frozen=True, eq=False)
class FarthestWeights:
    """weights: [unit], 0 or more, their sum is 1. divergence: Jensen-Shannon, from the model's own, 0 to log 2 in nats.

    distance: total variation of the answers, at most the limit of the search.
    """

    weights: Tensor
    divergence: float
    distance: float


def farthest_weights(text: WeighedText, *, limit: float = 0.01) -> FarthestWeights:
    """Of a text of two units or more; limit: how far the answer may move, in total variation, .0001 to 1.

    Of two classes no other weights are farther. Of more classes the search is local, and the same for the same text.
    """
    between("limit", limit, 1e-4, 1)
    region = AnswerRegion(text, limit)
    classes = text.unit_logits.shape[1]
    weights = farthest_of_two_classes(region) if classes == 2 else farthest_of_several_classes(region)
    units = torch.arange(len(text))
    return FarthestWeights(
        weights,
        float(region.divergences(weights, units)),
        float(region.distances(text.logits(weights[None]))[0]),
    )


def farthest_of_texts(texts: Sequence[WeighedText], *, limit: float = 0.01) -> list[FarthestWeights | None]:
    """One for each text in their order; None for a text of fewer than two units, whose weights cannot move."""
    return [farthest_weights(text, limit=limit) if len(text) >= FEWEST else None for text in texts]
