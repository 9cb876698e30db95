"""Sensitivity-n: whether sets of units with larger scores make the answer fall further.

Ancona et al. (2018), "Towards Better Understanding of Gradient-based Attribution Methods for Deep Neural Networks", section 3.2.
"""

import numpy as np

from pellucid.core.foundation.kinds import metrics
from pellucid.core.passes.batch import Operator
from pellucid.core.text.units import Kind
from pellucid.evaluation.shared.case import Case, Judged
from pellucid.evaluation.shared.random_edits import random_edits

LEAST = 1e-9  # standard deviations of falls and of sums below this are rounding


@metrics.add(better="higher", lowest=-1.0, highest=1.0, usual=False)
def sensitivity_n(
    case: Case, *, n_edits: int = 50, unit: Kind = "word", operator: Operator = "absent", seed: int = 0
) -> Judged:
    """Pearson correlation of the taken-out units' summed scores with the fall of the answer; -1 to 1, higher is better.

    n_edits: random sets a text, of all sizes, the same for every method; the paper correlates sets of one size n, which on a text
    of ten words leaves few. Scores that are all equal within each size correlate only by the size. 0 where the sums do not vary; texts whose
    answer does not vary are not judged.
    """
    edits = random_edits(case, "infidelity", n_edits, unit=unit, operator=operator, seed=seed)
    return Judged(
        np.array(
            [
                [_correlation(one.removed @ scores, one.falls)]
                for one, scores in zip(edits, case.scores(unit), strict=True)
            ]
        )
    )


def _correlation(sums: np.ndarray, falls: np.ndarray) -> float:
    """Of sums and falls [edit]."""
    if len(falls) < 2 or falls.std() < LEAST:
        return np.nan
    if sums.std() < LEAST * max(1.0, float(np.abs(sums).max())):
        return 0.0
    return float(np.clip(np.corrcoef(sums, falls)[0, 1], -1, 1))
