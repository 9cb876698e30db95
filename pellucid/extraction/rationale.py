"""Rationale: the words that a rationale model lets through.

Lei, Barzilay & Jaakkola (2016), "Rationalizing Neural Predictions"; the baseline "Rationale" of Sun et al. (2020),
section 5.3. At test time a word is in when its probability is above a half.
"""

from collections.abc import Iterator

from pellucid.core.kinds import extractors
from pellucid.extraction.asked import Asked, Choice
from pellucid.extraction.selection import BY_WORDS


@extractors.add(selection="above_half", selections=tuple(BY_WORDS))
def rationale(asked: Asked) -> Iterator[Choice]:
    """By each word's probability of being in the rationale; "max_sum_centred" gives the best single stretch."""
    return asked.by_method("rationale")
