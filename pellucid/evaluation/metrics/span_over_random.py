"""Span over random: how much more often the heaviest span alone gets the prediction than random spans of its length.

The floor that extraction needs: a long span agrees whatever was heaviest. Compare with Sun et al. (2020), "Self-Explaining
Structures Improve NLP Models", section 4.3, which reports no such floor.
"""

import numpy as np

from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.kinds import metrics
from pellucid.core.passes.batch import Operator
from pellucid.core.passes.seeds import generator_for
from pellucid.core.spans.range_alone import others_alike
from pellucid.core.text.tied_units import mean_of_orders
from pellucid.core.text.units import Kind
from pellucid.evaluation.shared.case import Case, Judged
from pellucid.evaluation.shared.span_erasure import alone, evidence


@metrics.add(better="higher", lowest=-1.0, highest=1.0, usual=False)
def span_over_random(
    case: Case, *, draws: int = 10, unit: Kind = "word", operator: Operator = "absent", seed: int = 0
) -> Judged:
    """Agreement of the heaviest span less that of random spans of its length; -1 to 1, higher is better.

    draws: how many random spans a text at most; all other spans of that length where there are fewer. A text without
    another span of that length is not judged. unit: what spans are made of where a method does not score spans.
    """
    at_least("draws", draws, 1)
    heaviest = evidence(case, 1, unit)
    spans = [
        [_spans(case, example, kind, choice, draws=draws, seed=seed) for choice in choices]
        for example, (kind, choices) in enumerate(heaviest)
    ]
    variants = [
        [alone(case, example, kind, span, operator) for choice in choices for span in choice]
        for example, ((kind, _), choices) in enumerate(zip(heaviest, spans, strict=True))
    ]
    predictions = zip(case.predictions(variants), case.classes("prediction"), spans, strict=True)
    return Judged(
        np.array([[_over(predicted == number, choices)] for predicted, number, choices in predictions])
    )


def _spans(
    case: Case, example: int, kind: Kind, heaviest: list[range], *, draws: int, seed: int
) -> list[range]:
    """The heaviest span, then the random ones; none where the text has no span."""
    if not heaviest:
        return []
    generator = generator_for(case.batch.rows[example], "span_over_random", seed)
    segments = case.segments(kind)[example].tolist()
    return [heaviest[0], *others_alike(heaviest[0], segments, draws, generator)]


def _over(agrees: np.ndarray, choices: list[list[range]]) -> float:
    """The mean over choices of equally heavy spans; nan where none has another span of its length."""
    parts = np.split(agrees, np.cumsum([len(spans) for spans in choices])[:-1])
    differences = np.array([part[0] - part[1:].mean() for part in parts if len(part) > 1])
    return float(mean_of_orders(differences)) if len(differences) else float("nan")
