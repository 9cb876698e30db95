"""Does an explanation stay the same when word vectors are shifted and the network takes the shift back?

Kindermans et al. (2019), "The (Un)reliability of Saliency Methods", sections 2 and 3: input invariance. Gradient x input fails by
design, since it multiplies by the vectors; integrated gradients pass if their baseline is shifted too.
"""

from collections.abc import Sequence

import numpy as np

from pellucid.core.foundation.checks import between
from pellucid.core.foundation.kinds import checks
from pellucid.evaluation.checking.check_case import CheckCase
from pellucid.evaluation.checking.findings import Findings, judged_lines
from pellucid.evaluation.checking.scored_text import ScoredText, alike
from pellucid.evaluation.checking.thresholds import SHIFT_CHANGE

MEASURE = "change of the scores"


@checks.add(
    needs=frozenset({"explainer"}),
    cost="the methods on every text once more",
    again=1,
    rule="passes where the scores change by less than a twentieth of their size",
)
def input_shift(case: CheckCase, *, size: float = 1.0) -> Findings:
    """How far scores move when all word vectors are shifted by one vector and the network takes the shift back, so that it answers the same.

    0 for no change, 1 for a change as large as the scores. size: of the shift, in deviations of the word vectors. Scores that do
    not read vectors pass, random ones among them.
    """
    between("size", size, 0.001, 1000)
    shifted = case.changes.with_shifted_vectors(case.model, size, case.request.seed)
    explained = case.explain(shifted, classes=case.classes_explained())
    lines = [
        case.intervals.line(method, MEASURE, changes(case.explained[method], explained[method]))
        for method in case.methods
    ]
    return Findings(judged_lines(lines, below=SHIFT_CHANGE))


def changes(ones: Sequence[ScoredText], others: Sequence[ScoredText]) -> list[float]:
    """For each text the sum of the differences' sizes, divided by the sum of the scores' sizes; nan where all scores are 0."""
    values = []
    for one, other in zip(ones, others, strict=True):
        total = float(np.abs(one.scores).sum())
        is_judged = total > 0 and alike(one, other)
        values.append(float(np.abs(one.scores - other.scores).sum()) / total if is_judged else float("nan"))
    return values
