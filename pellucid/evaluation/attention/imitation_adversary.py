"""The imitation adversary: can a new model give the same answers with weights that lie elsewhere?

Wiegreffe & Pinter (2019), "Attention is not not Explanation", section 4; Tutek & Šnajder (2020), "Staying True to Your Word",
section 3.3 and figure 1 (corrections.md A4.1, A4.2).
"""

import math
from collections.abc import Sequence

from pellucid.core.foundation.kinds import attention_tests
from pellucid.core.results.table import Interval
from pellucid.evaluation.protocols.imitation_curve import imitation_curve
from pellucid.evaluation.shared.attention_corpus import AttentionCorpus, CorpusLine


@attention_tests.add(
    better="higher",
    lowest=0.0,
    highest=1.0,
    needs="train",
    along="divergence_weight",
    meaning="How far the weights of a new model lie from the model's own, and how far its answers, for each λ.",
)
def imitation_adversary(
    corpus: AttentionCorpus, *, divergence_weights: Sequence[float] = (0.0, 0.01, 0.1, 1.0)
) -> list[CorpusLine]:
    """For each lambda the mean divergence of the weights, in nats, and the mean distance of the answers.

    Each lambda is a training of one model, so the numbers have no intervals. divergence_weights: the lambdas, 0 or more.
    """
    assert corpus.imitator is not None  # the door made one
    points = imitation_curve(corpus.model, corpus.examples, corpus.imitator, divergence_weights)
    return [
        CorpusLine(
            part, Interval(value, math.nan, math.nan), point.texts, point.divergence_weight, directed=directed
        )
        for point in points
        for part, value, directed in (
            ("divergence of the weights", point.divergence, True),
            ("distance of the answers", point.distance, False),
        )
    ]
