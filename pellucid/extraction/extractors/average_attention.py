"""AvgAttention: words by how much the position that the classifier reads attends to them in the last layer.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", section 5.3. The mean over heads; special tokens are
left out and the rest is scaled to sum to 1 (corrections.md A0.11). The paper's rule of selection always selects one word
(A0.10).
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pellucid.core.foundation.kinds import extractors
from pellucid.core.passes.target import Target
from pellucid.core.results.explanation import Explanation
from pellucid.extraction.extraction_request import ExtractionRequest, SelectedSpans
from pellucid.extraction.selection import BY_WORDS


@extractors.add(selection="max_sum_centred", selections=tuple(BY_WORDS))
def average_attention(request: ExtractionRequest) -> Iterator[SelectedSpans]:
    """By the attention of the position that the classifier reads: the first piece in BERT-like models, as in the paper."""
    for number, explanation in enumerate(request.explain("attention", Target("predicted"))):
        yield request.select(number, among_words(explanation))


def among_words(explanation: Explanation) -> Explanation:
    """Attention to the text alone: special tokens get 0, the others sum to 1 (all are 0 where no attention is on text)."""
    scores = np.where(explanation.special, 0.0, explanation.scores.astype(np.float64))
    return replace(explanation, scores=scores / (scores.sum() or 1.0))
