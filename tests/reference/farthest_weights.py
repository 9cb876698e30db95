"""Jain & Wallace's search for adversarial attention as they describe it: K starts climb by Adam, a penalty holds the
answer.

"Attention is not Explanation", section 4.2.2, equation 3: the divergences of K = 5 sets of weights from the model's
own, plus those among them divided by K (K - 1), minus 500 / K times what each answer moves beyond epsilon; 500 steps of
Adam.
"""

import torch
from torch import Tensor

K, STEPS, PENALTY, RATE = 5, 500, 500.0, 0.01


def jensen_shannon(one: Tensor, other: Tensor) -> Tensor:
    middle = (one + other) / 2
    return (
        (one * (one.clamp_min(1e-300) / middle).log()).sum(-1)
        + (other * (other.clamp_min(1e-300) / middle).log()).sum(-1)
    ) / 2


def farthest_divergences(weights: Tensor, unit_logits: Tensor, epsilon: float, seed: int, rate: float = RATE) -> Tensor:
    """[text unit], [text unit class] of texts of one length -> [text]: the largest divergence of an admitted set of
    weights.

    0 where no set is admitted: the model's own weights are.
    """
    generator = torch.Generator().manual_seed(seed)
    texts, units = weights.shape
    scores = torch.randn(texts, K, units, generator=generator, dtype=weights.dtype).requires_grad_()
    answer = (weights[:, None] @ unit_logits).softmax(-1)
    adam = torch.optim.Adam([scores], lr=rate, amsgrad=True)
    for _ in range(STEPS):
        others = scores.softmax(-1)
        divergence = jensen_shannon(others, weights[:, None].expand_as(others))
        distance = ((others @ unit_logits).softmax(-1) - answer).abs().sum(-1) / 2
        among = sum(jensen_shannon(others[:, one], others[:, other]) for one in range(K) for other in range(one))
        gain = divergence.sum(1) + among / (K * (K - 1)) - PENALTY / K * (distance - epsilon).clamp_min(0).sum(1)
        adam.zero_grad()
        (-gain.sum()).backward()
        adam.step()
    with torch.no_grad():
        others = scores.softmax(-1)
        divergence = jensen_shannon(others, weights[:, None].expand_as(others))
        distance = ((others @ unit_logits).softmax(-1) - answer).abs().sum(-1) / 2
    return divergence.where(distance <= epsilon, 0.0).amax(1)
