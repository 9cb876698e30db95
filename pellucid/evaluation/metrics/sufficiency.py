"""Sufficiency: how far the prediction falls when only the best-scored units are kept.

DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models", section 4.2. They delete
tokens; our default makes them absent, so that the others keep their positions.
"""

from collections.abc import Sequence

from pellucid.core.foundation.kinds import metrics
from pellucid.core.passes.batch import Operator
from pellucid.core.text.units import Kind
from pellucid.evaluation.shared.case import Case, Judged
from pellucid.evaluation.shared.erasure import FRACTIONS, mean_fall


@metrics.add(better="lower", lowest=-1.0, highest=1.0, column=4, later={"normalised"})
def sufficiency(
    case: Case,
    *,
    fractions: Sequence[float] = FRACTIONS,
    unit: Kind = "word",
    operator: Operator = "absent",
    normalised: bool = False,
) -> Judged:
    """Fall of the explained class's probability with the best-scored units alone; -1 to 1, lower is better.

    fractions: shares of the text that are kept, rounded up, at least one unit each; the falls are averaged.
    operator: "delete" is the paper's. normalised: as a share of the fall without any unit (Carton et al. 2020), cut
    to 0 to 1; texts that lose nothing without any unit are not judged.
    """
    fall = mean_fall(
        case,
        lambda order, count: order[count:],
        fractions=fractions,
        unit=unit,
        operator=operator,
        normalised=normalised,
    )
    return Judged(fall[:, None])
