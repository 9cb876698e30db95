"""Position: the same made-up word stands in every text, and where it stands decides.

A text's label is "yes" if at most a third of its other words come before the made-up one, "no" if at most a third come
after it. Words are what blanks separate; of a pair, the text that holds the made-up word is counted.
"""

from collections.abc import Sequence
from random import Random

from pellucid.core.foundation.kinds import reasons
from pellucid.datasets.planting.insertions import Gap, Insertion, Planting


@reasons.add(words=1)
def position(gaps: Sequence[Gap], words: Sequence[str], yes: bool, draw: Random) -> Planting:
    """One word: in the first third of the text for yes, in its last third for no."""
    segment = draw.choice(gaps).segment
    count = sum(gap.segment == segment for gap in gaps) - 1  # of words in this text
    index = draw.randint(0, count // 3)
    early, late = (
        [Insertion(Gap(segment, index), words[0])],
        [Insertion(Gap(segment, count - index), words[0])],
    )
    return Planting(early, late) if yes else Planting(late, early)
