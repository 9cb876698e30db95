"""Revealing game: how soon the model finds its class when the best-scored units are shown first.

"Decoding Layer Saliency in Transformers", appendix A.1; grid and rounding are corrections.md A1.17.
"""

from pellucid.core.foundation.kinds import metrics
from pellucid.core.passes.batch import Operator
from pellucid.core.text.units import Kind
from pellucid.evaluation.shared.case import Case, Judged, Reference
from pellucid.evaluation.shared.word_removal import area, still_right


@metrics.add(
    better="higher",
    lowest=0.0,
    highest=1.0,
    column=2,
    curve_axis="share of the text shown, highest scores first",
    curve_reading="a good method’s line rises early",
)
def revealing(
    case: Case,
    *,
    unit: Kind = "word",
    operator: Operator = "absent",
    steps: int = 20,
    reference: Reference = "gold",
) -> Judged:
    """Area under the share of right answers while the best-scored units are shown; 0 to 1, higher is better.

    steps: the curve has steps + 1 points from nothing to everything shown. reference: the class that counts
    as right, the "gold" label or the model's own "prediction" for the whole text. operator: how the rest is
    hidden.
    """
    # Showing the best first is hiding the worst first, with the curve read backwards.
    worst_first = [[order[::-1] for order in orders] for orders in case.orders(unit)]
    hidden = still_right(case, worst_first, unit=unit, operator=operator, steps=steps, reference=reference)
    return area(hidden[:, ::-1])
