"""Token: which of two made-up words stands in the text decides its label.

Bastings et al. (2022), "Will You Find These Shortcuts?", section 3.
"""

from collections.abc import Sequence
from random import Random

from pellucid.core.foundation.kinds import reasons
from pellucid.datasets.planting.places import Place, Planting, Put


@reasons.add(words=2)
def token(places: Sequence[Place], words: Sequence[str], yes: bool, draw: Random) -> Planting:
    """One of two words: the second one for yes."""
    place = draw.choice(places)
    return Planting([Put(place, words[yes])], [Put(place, words[not yes])])
