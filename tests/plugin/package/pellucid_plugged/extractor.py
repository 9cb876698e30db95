"""Plugged words: the words whose plugged gradient is largest.

Doe (2030), "On Words".
"""

from collections.abc import Iterator

from pellucid.core.foundation.kinds import extractors
from pellucid.extraction.extractor_input import Asked, Choice
from pellucid.extraction.selection import BY_WORDS


@extractors.add(selection="max_sum_centred", selections=tuple(BY_WORDS))
def plugged_words(asked: Asked) -> Iterator[Choice]:
    """Words by their plugged gradient."""
    yield from asked.by_method("plugged_gradient")
