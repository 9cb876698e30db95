"""Span: the same three made-up words stand in every text, and whether they stand together decides.

Neither a word nor its order says anything; only the unbroken stretch does.
"""

from collections.abc import Sequence
from random import Random

from pellucid.core.foundation.kinds import reasons
from pellucid.datasets.planting.places import Place, Planting, Put, some_of


@reasons.add(words=3)
def span(places: Sequence[Place], words: Sequence[str], yes: bool, draw: Random) -> Planting:
    """Three words in a fixed order: side by side for yes, apart for no."""
    chosen = some_of(places, len(words), draw)
    apart = [Put(place, word) for place, word in zip(chosen, words, strict=True)]
    together = [Put(draw.choice(chosen), " ".join(words))]  # where one of them stands anyway: two words move
    return Planting(together, apart) if yes else Planting(apart, together)
