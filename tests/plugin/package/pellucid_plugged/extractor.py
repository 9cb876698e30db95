"""Plugged words: the words whose plugged gradient is largest.

Doe (2030), "On Words".
"""

from pellucid.base.kinds import extractors
from pellucid.evidence.extraction_request import BY_WORDS


@extractors.add(selection="max_sum_centred", selections=tuple(BY_WORDS))
def plugged_words(request):
    """Words by their plugged gradient."""
    return request.select_by_method("plugged_gradient")
