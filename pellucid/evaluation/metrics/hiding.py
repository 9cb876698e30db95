"""Hiding game: how soon the model loses its class when the best-scored units are hidden first.

"Decoding Layer Saliency in Transformers", appendix A.1. Its main text hides the least important first, which
contradicts the appendix and its results (corrections.md A1.5).
"""

from pellucid.core.foundation.kinds import metrics
from pellucid.core.passes.batch import Operator
from pellucid.core.text.units import Kind
from pellucid.evaluation.shared.case import Case, Judged, Reference
from pellucid.evaluation.shared.word_removal import area, still_right


@metrics.add(
    better="lower",
    lowest=0.0,
    highest=1.0,
    column=1,
    curve_axis="share of the text hidden, highest scores first",
    curve_reading="a good method’s line falls early",
)
def hiding(
    case: Case,
    *,
    unit: Kind = "word",
    operator: Operator = "absent",
    steps: int = 20,
    reference: Reference = "gold",
) -> Judged:
    """Area under the share of right answers while the best-scored units are hidden; 0 to 1, lower is better.

    steps: the curve has steps + 1 points from nothing to everything hidden. reference: the class that counts
    as right, the "gold" label or the model's own "prediction" for the whole text. operator: how units are
    hidden.
    """
    best_first = case.orders(unit)
    return area(still_right(case, best_first, unit=unit, operator=operator, steps=steps, reference=reference))
