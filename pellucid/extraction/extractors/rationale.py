"""Rationale: the words that a rationale model reads.

Lei, Barzilay & Jaakkola (2016), "Rationalizing Neural Predictions"; the baseline "Rationale" of Sun et al. (2020),
section 5.3. At test time the model reads a word if its probability is above a half.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pellucid.core.foundation.kinds import extractors
from pellucid.core.passes.target import Target
from pellucid.core.results.explanation import Explanation
from pellucid.core.text.units import Units, coarsen
from pellucid.extraction.extraction_request import ExtractionRequest, SelectedSpans
from pellucid.extraction.selection import BY_WORDS


@extractors.add(selection="above_half", selections=tuple(BY_WORDS))
def rationale(request: ExtractionRequest) -> Iterator[SelectedSpans]:
    """By each word's probability of being in the rationale; "max_sum_centred" gives the best single span.

    Where the model chooses pieces, a word has the probability of its likeliest piece.
    """
    for number, explanation in enumerate(request.explain("rationale", Target("predicted"))):
        yield request.select(number, by_likeliest_piece(explanation))


def by_likeliest_piece(explanation: Explanation) -> Explanation:
    """One probability a word: that of its likeliest piece, since a word is read where one of its pieces is."""
    pieces = explanation.units
    assert isinstance(pieces, Units)  # a rationale's
    words, index = coarsen(pieces, "word", explanation.example.segments)
    scores = np.zeros(len(words))
    np.maximum.at(scores, np.array(index, dtype=np.int64), explanation.scores)
    return replace(explanation, units=words, scores=scores)
