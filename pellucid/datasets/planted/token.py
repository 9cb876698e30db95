"""Token: which of two made-up words stands in the text decides its label.

Bastings et al. (2022), "Will You Find These Shortcuts?", section 3.
"""

from collections.abc import Sequence
from random import Random

from pellucid.core.foundation.kinds import reasons
from pellucid.datasets.planting.insertions import Gap, Insertion, Planting


@reasons.add(words=2)
def token(gaps: Sequence[Gap], words: Sequence[str], yes: bool, draw: Random) -> Planting:
    """One of two words: the second one for yes."""
    gap = draw.choice(gaps)
    return Planting([Insertion(gap, words[yes])], [Insertion(gap, words[not yes])])
