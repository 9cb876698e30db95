"""Order: the same two made-up words stand in every text, and which comes first decides.

Bastings et al. (2022), "Will You Find These Shortcuts?", section 3 ("ordered pair").
"""

from collections.abc import Sequence
from random import Random

from pellucid.core.foundation.kinds import reasons
from pellucid.datasets.planting.insertions import Gap, Insertion, Planting


@reasons.add(words=2)
def order(gaps: Sequence[Gap], words: Sequence[str], yes: bool, draw: Random) -> Planting:
    """Two words: the first before the second for yes, after it for no."""
    first, second = sorted(draw.choices(gaps, k=2))
    forth = [Insertion(first, words[0]), Insertion(second, words[1])]
    back = [Insertion(first, words[1]), Insertion(second, words[0])]
    return Planting(forth, back) if yes else Planting(back, forth)
