"""Span agreement: whether the model, given the heaviest spans alone, predicts what it predicts for the whole text.

The paper's own check is whether the extracted span still carries the label: Sun et al. (2020), "Self-Explaining
Structures Improve NLP Models", section 4.3. A span's vector has seen the whole text; its words, read alone, have not.
"""

import numpy as np

from pellucid.core.foundation.kinds import metrics
from pellucid.core.passes.batch import Operator
from pellucid.core.text.units import Kind
from pellucid.evaluation.shared.case import Case, Judged
from pellucid.evaluation.shared.span_erasure import alone, evidence, numbers_of


@metrics.add(better="higher", lowest=0.0, highest=1.0, usual=False)
def span_agreement(
    case: Case, *, n_spans: int = 1, unit: Kind = "word", operator: Operator = "absent"
) -> Judged:
    """1 where the heaviest spans alone get the prediction of the whole text, else 0; equally heavy ones share; higher is better.

    Longer spans agree more easily: read it beside `span_over_random`. n_spans: how many spans that do not overlap.
    unit: what spans are made of where a method does not score spans.
    """
    edited = [
        [alone(case, example, kind, numbers_of(spans), operator) for spans in choices]
        for example, (kind, choices) in enumerate(evidence(case, n_spans, unit))
    ]
    predictions = zip(case.predictions(edited), case.classes("prediction"), strict=True)
    return Judged(np.array([[(predicted == number).mean()] for predicted, number in predictions]))
