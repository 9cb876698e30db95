"""Tying without the square: the distance between each state and the word vector that it was made from.

As in code that the first author of Tutek & Šnajder (2020), "Staying True to Your Word", released later; that code counts
padding, which we do not (corrections.md A4.5).
"""

import torch
from torch import Tensor

from pellucid.core.foundation.kinds import penalties
from pellucid.core.passes.precision import widened
from pellucid.core.passes.trace import StateTrace


@penalties.add(reads="states", same_width=True)
def tying_unsquared(states: StateTrace) -> Tensor:
    """[example]: the mean over a text's pieces of ||h - e||; 0 where states are the word vectors, else more."""
    distances = torch.linalg.vector_norm(widened(states.states) - widened(states.vectors), dim=-1)
    return states.mean(distances)
