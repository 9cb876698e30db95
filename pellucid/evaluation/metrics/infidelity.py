"""Infidelity: how badly the sum of the taken-out units' scores predicts the fall of the answer.

Yeh et al. (2019), "On the (In)fidelity and Sensitivity of Explanations", definition 2.1, with sets of units as perturbations.
"""

import numpy as np

from pellucid.core.foundation.kinds import metrics
from pellucid.core.passes.batch import Operator
from pellucid.core.text.units import Kind
from pellucid.evaluation.shared.case import Case, Judged
from pellucid.evaluation.shared.random_edits import random_edits


@metrics.add(better="lower", lowest=0.0, highest=1.0, usual=False)
def infidelity(
    case: Case, *, n_edits: int = 50, unit: Kind = "word", operator: Operator = "absent", seed: int = 0
) -> Judged:
    """Share of the falls' mean square that scores, scaled at their best, do not predict; 0 to 1, lower is better.

    For each text min over b >= 0 of E[(b sum of scores - fall)^2] / E[fall^2] over random sets of units. The paper has neither b nor the
    division: methods give scores in different units, and texts differ in how far their answers fall. b is not negative, so
    that scores of the wrong sign gain nothing. n_edits: sets a text, the same for every method. Texts of one unit, and those whose
    answer no set moves, are not judged.
    """
    edits = random_edits(case, "infidelity", n_edits, unit=unit, operator=operator, seed=seed)
    return Judged(
        np.array(
            [
                [_share(one.removed @ scores, one.falls)]
                for one, scores in zip(edits, case.scores(unit), strict=True)
            ]
        )
    )


def _share(sums: np.ndarray, falls: np.ndarray) -> float:
    """The unpredicted share; sums, falls: [edit]."""
    total = float(falls @ falls)
    if not len(falls) or total < 1e-18:
        return np.nan
    squares, product = float(sums @ sums), float(sums @ falls)
    scale = max(0.0, product / squares) if squares > 0 else 0.0
    error = scale * sums - falls
    return min(1.0, float(error @ error) / total)
