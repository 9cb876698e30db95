"""Tying: keep each state near the word vector that it was made from, so that weights on states are weights on words.

Tutek & Šnajder (2020), "Staying True to Your Word", equation 4: squared distances, and a mean over real tokens
(corrections.md A4.5).
"""

from torch import Tensor

from pellucid.core.foundation.kinds import penalties
from pellucid.core.passes.precision import widened
from pellucid.core.passes.trace import StateTrace


@penalties.add(reads="states", same_width=True)
def tying(states: StateTrace) -> Tensor:
    """[example]: the mean over a text's pieces of ||h - e|| squared; 0 where states are the word vectors, else more."""
    return states.mean((widened(states.states) - widened(states.vectors)).square().sum(-1))
