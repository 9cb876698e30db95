"""Order: the same two made-up words stand in every text, and which comes first decides.

Bastings et al. (2022), "Will You Find These Shortcuts?", section 3 ("ordered pair").
"""

from collections.abc import Sequence
from random import Random

from pellucid.core.foundation.kinds import reasons
from pellucid.datasets.planting.places import Place, Planting, Put


@reasons.add(words=2)
def order(places: Sequence[Place], words: Sequence[str], yes: bool, draw: Random) -> Planting:
    """Two words: the first before the second for yes, after it for no."""
    first, second = sorted(draw.choices(places, k=2))
    forth = [Put(first, words[0]), Put(second, words[1])]
    back = [Put(first, words[1]), Put(second, words[0])]
    return Planting(forth, back) if yes else Planting(back, forth)
