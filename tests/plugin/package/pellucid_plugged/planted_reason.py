"""Plugged opening: which of two made-up words opens the text decides.

Doe (2030), "On Openings".
"""

from collections.abc import Sequence
from random import Random

from pellucid.base.kinds import reasons
from pellucid.data.reasons import Gap, Insertion, Planting


@reasons.add(words=2)
def plugged_opening(gaps: Sequence[Gap], words: Sequence[str], yes: bool, draw: Random) -> Planting:
    """One of two words at the beginning of the first text: the second one for yes."""
    return Planting([Insertion(gaps[0], words[yes])], [Insertion(gaps[0], words[not yes])])
