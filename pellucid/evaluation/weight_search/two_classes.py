"""Of two classes the farthest weights are known exactly: they lie on one unit, or on two.

The answer depends on one number, the weighted sum of the units' log odds, and stays within the limit while that lies between
two bounds. So the weights that keep it are a polytope. The divergence is convex and largest at one of its corners, and these
are the units whose log odds lie between the bounds, and the pairs of units whose mean can be put on a bound.
"""

import torch
from torch import Tensor

from pellucid.evaluation.weight_search.answer_region import MARGIN, AnswerRegion


def farthest_of_two_classes(region: AnswerRegion) -> Tensor:
    """[unit]: of all weights that keep the answer, those with the largest divergence from the model's own."""
    text = region.text
    odds = text.unit_logits[:, 1] - text.unit_logits[:, 0]
    probability = region.answer[1]
    bounds = [
        (probability + move).clamp(0, 1).logit() for move in (MARGIN - region.limit, region.limit - MARGIN)
    ]
    single = (bounds[0] <= odds) & (odds <= bounds[1])
    shares = torch.stack([torch.diag(single.to(odds)), *(_pairs_on(odds, bound) for bound in bounds)])
    units = torch.arange(len(odds))
    pairs = torch.stack(torch.broadcast_tensors(units[:, None], units), -1)
    divergences = region.divergences(torch.stack([shares, 1 - shares], -1), pairs)
    alone = region.divergences(torch.ones(len(odds), 1, dtype=odds.dtype), units[:, None])
    divergences[0] = torch.diag(alone)
    corner, one, other = torch.unravel_index(divergences.where(shares > 0, -1.0).argmax(), shares.shape)
    weights = torch.zeros_like(odds)
    weights[other] = 1 - shares[corner, one, other]
    weights[one] = shares[corner, one, other]  # last: of a single unit both are the same
    return weights


def _pairs_on(odds: Tensor, bound: Tensor) -> Tensor:
    """[unit] -> [unit unit]: the share of the first of two units that puts their mean on the bound; 0 where none does."""
    above, below = odds[:, None], odds[None]
    possible = (above > bound) & (below < bound) & bound.isfinite()
    return ((bound - below) / (above - below)).where(possible, 0.0)
