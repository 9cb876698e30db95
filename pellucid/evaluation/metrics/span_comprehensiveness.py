"""Span comprehensiveness: how far the prediction falls once the heaviest spans are taken away.

DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models", section 4.2, for whole spans in place of
shares of a text; Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", take one span (corrections.md A0.19).
"""

from pellucid.core.foundation.kinds import metrics
from pellucid.core.passes.batch import Operator
from pellucid.core.text.units import Kind
from pellucid.evaluation.shared.case import Case, Judged
from pellucid.evaluation.shared.span_erasure import evidence, falls, numbers_of


@metrics.add(better="higher", lowest=-1.0, highest=1.0, usual=False)
def span_comprehensiveness(
    case: Case, *, n_spans: int = 1, unit: Kind = "word", operator: Operator = "absent"
) -> Judged:
    """Fall of the explained class's probability without the heaviest spans; -1 to 1, higher is better.

    n_spans: how many spans that do not overlap. unit: what spans are made of where a method does not score spans.
    """
    edited = [
        [case.without(example, numbers_of(spans), kind, operator) for spans in choices]
        for example, (kind, choices) in enumerate(evidence(case, n_spans, unit))
    ]
    return Judged(falls(case, edited)[:, None])
