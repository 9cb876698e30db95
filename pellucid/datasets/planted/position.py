"""Position: the same made-up word stands in every text, and where it stands decides.

A text's label is "yes" if at most a third of its other words come before the made-up one, "no" if at most a third come
after it. Words are what blanks separate; of a pair, the text that holds the made-up word is counted.
"""

from collections.abc import Sequence
from random import Random

from pellucid.core.foundation.kinds import reasons
from pellucid.datasets.planting.places import Place, Planting, Put


@reasons.add(words=1)
def position(places: Sequence[Place], words: Sequence[str], yes: bool, draw: Random) -> Planting:
    """One word: in the first third of the text for yes, in its last third for no."""
    segment = draw.choice(places).segment
    count = sum(place.segment == segment for place in places) - 1  # of words in this text
    gap = draw.randint(0, count // 3)
    early, late = [Put(Place(segment, gap), words[0])], [Put(Place(segment, count - gap), words[0])]
    return Planting(early, late) if yes else Planting(late, early)
