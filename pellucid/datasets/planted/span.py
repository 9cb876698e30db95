"""Span: the same three made-up words stand in every text, and whether they stand together decides.

Neither a word nor the order says anything; only whether the three stand side by side does.
"""

from collections.abc import Sequence
from random import Random

from pellucid.core.foundation.kinds import reasons
from pellucid.datasets.planting.insertions import Gap, Insertion, Planting, draw_gaps


@reasons.add(words=3)
def span(gaps: Sequence[Gap], words: Sequence[str], yes: bool, draw: Random) -> Planting:
    """Three words in a fixed order: side by side for yes, apart for no."""
    apart_gaps = draw_gaps(gaps, len(words), draw)
    apart = [Insertion(gap, word) for gap, word in zip(apart_gaps, words, strict=True)]
    # Together they stand where one of them stands apart, so that two words move.
    together = [Insertion(draw.choice(apart_gaps), " ".join(words))]
    return Planting(together, apart) if yes else Planting(apart, together)
