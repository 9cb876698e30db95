"""Decoded saliency written out slowly and literally, for one text of a Hugging Face classifier: equations 1 to 5.

The layer's states and their gradient come from the network's own outputs, the probabilities from a masked-LM network
that has its own head applied to them by hand. Nothing of ours runs here.
"""

import torch
from torch import Tensor


def chances(masked_lm, states: Tensor) -> Tensor:
    """[position token]: P, softmax over the vocabulary of the head of a BERT on states [position width]."""
    with torch.no_grad():
        return masked_lm.cls(states[None])[0].softmax(-1)


def decoded(chances: Tensor, alpha: Tensor, ids: list[int], content: list[int], tau: int | None) -> list[float]:
    """For each position the score of its token: 0 at special tokens.

    chances: [position token]. alpha: [position]. content: positions of the text. tau: None for all.
    """
    types = sorted({ids[position] for position in content})
    total = {}
    for kind in types:
        score = 0.0
        for position in range(len(ids)):
            of_position = {other: float(chances[position, other]) for other in types}
            ranks = sorted(of_position.values(), reverse=True)
            if tau is None or of_position[kind] >= ranks[min(tau, len(ranks)) - 1]:
                score += of_position[kind] * float(alpha[position])
        total[kind] = score
    return [total[number] if position in content else 0.0 for position, number in enumerate(ids)]
