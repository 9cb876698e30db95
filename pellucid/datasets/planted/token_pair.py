"""Token pair: two made-up words decide together, and neither says anything alone.

An exclusive or, which no sum over single words can compute. Every text holds one of the first two words and one of the
last two; each of the four is as frequent under either label.
"""

from collections.abc import Sequence
from random import Random

from pellucid.core.foundation.kinds import reasons
from pellucid.datasets.planting.insertions import Gap, Insertion, Planting


@reasons.add(words=4)
def token_pair(gaps: Sequence[Gap], words: Sequence[str], yes: bool, draw: Random) -> Planting:
    """One of the first two words and one of the last two: first with third, or second with fourth, for yes; else no."""
    number = draw.randrange(2)
    partner = number if yes else 1 - number
    here, there = draw.choice(gaps), draw.choice(gaps)
    one, other = Insertion(here, words[number]), Insertion(there, words[2 + partner])
    if draw.randrange(2):  # either word may be the one that an edit replaces
        return Planting([one, other], [Insertion(here, words[1 - number]), other])
    return Planting([one, other], [one, Insertion(there, words[3 - partner])])
