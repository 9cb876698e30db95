"""AvgGradient: words by the size of the gradient of a class's probability.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", section 5.3: s(w) = ||d p(y|x) / d w||_1 with y the
gold label, averaged over a span. Their rule of selection always takes one word (corrections.md A0.10).
"""

from collections.abc import Iterator

from pellucid.core.foundation.kinds import extractors
from pellucid.extraction.extraction_request import ExtractionRequest, SelectedSpans
from pellucid.extraction.selection import BY_WORDS


@extractors.add(selection="max_sum_centred", selections=tuple(BY_WORDS))
def average_gradient(request: ExtractionRequest, *, target: str = "gold") -> Iterator[SelectedSpans]:
    """By the l1 norm of the gradient of the target's probability by each word's embedding; a word's pieces add up.

    target: "gold" is the paper's; it reads the label of the text, so "predicted" for texts whose label is not known.
    """
    return request.select_by_method("gradient", target, "probability", norm="l1")
