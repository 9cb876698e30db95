"""AvgGradient: words by the size of the gradient of a class's probability.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", section 5.3: s(w) = ||d p(y|x) / d w||_1 with y the
gold label, averaged over a span. The paper's rule of selection always selects one word (corrections.md A0.10).
"""

from collections.abc import Iterator

from pellucid.core.foundation.kinds import extractors
from pellucid.extraction.extraction_request import ExtractionRequest, SelectedSpans
from pellucid.extraction.selection import BY_WORDS


@extractors.add(selection="max_sum_centred", selections=tuple(BY_WORDS))
def average_gradient(request: ExtractionRequest, *, target: str = "gold") -> Iterator[SelectedSpans]:
    """By the l1 norm of the gradient of the target's probability by each word's embedding, summed over a word's pieces.

    target: "gold" is the paper's, and needs the text's label; give "predicted" for texts whose label is not known.
    """
    return request.select_by_method("gradient", target, "probability", norm="l1")
