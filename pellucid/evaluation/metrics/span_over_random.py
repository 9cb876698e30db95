"""Span over random: how much more often the heaviest span alone gets the prediction than random spans of its length.

The floor that extraction needs: a long span agrees whatever was chosen. Compare with Sun et al. (2020), "Self-Explaining
Structures Improve NLP Models", section 4.3, which reports no such floor.
"""

import numpy as np

from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.kinds import metrics
from pellucid.core.passes.batch import Operator, Row
from pellucid.core.passes.seeds import generator_for
from pellucid.core.spans.range_alone import others_alike
from pellucid.core.text.units import Kind
from pellucid.evaluation.shared.case import Case, Judged
from pellucid.evaluation.shared.span_erasure import alone, evidence


@metrics.add(better="higher", lowest=-1.0, highest=1.0, usual=False)
def span_over_random(
    case: Case, *, draws: int = 10, unit: Kind = "word", operator: Operator = "absent", seed: int = 0
) -> Judged:
    """Agreement of the heaviest span less that of random spans of its length; -1 to 1, higher is better.

    draws: the most random spans a text; all others of that length where there are no more. A text without another is
    not judged. unit: what spans are made of where a method does not score spans.
    """
    at_least("draws", draws, 1)
    variants = [
        _variants(case, example, kind, stretches, draws, operator, seed)
        for example, (kind, stretches) in enumerate(evidence(case, 1, unit))
    ]
    said = zip(case.predictions(variants), case.classes("prediction"), strict=True)
    return Judged(np.array([[_over(found == number)] for found, number in said]))


def _variants(
    case: Case, example: int, kind: Kind, stretches: list[range], draws: int, operator: Operator, seed: int
) -> list[Row]:
    """The heaviest span alone, then the random ones."""
    if not stretches:
        return []
    generator = generator_for(case.batch.rows[example], "span_over_random", seed)
    texts = case.segments(kind)[example].tolist()
    every = [stretches[0], *others_alike(stretches[0], texts, draws, generator)]
    return [alone(case, example, kind, stretch, operator) for stretch in every]


def _over(agrees: np.ndarray) -> float:
    return float(agrees[0] - agrees[1:].mean()) if len(agrees) > 1 else float("nan")
