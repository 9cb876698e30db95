"""Plugged first: how much of the scores lies on the first word.

Doe (2031), "On Beginnings".
"""

import numpy as np

from pellucid.base.kinds import checks
from pellucid.comparison.check_case import CheckCase, Findings


@checks.add(needs=frozenset(), cost="nothing: it reads the comparison's explanations")
def plugged_first(case: CheckCase) -> Findings:
    """The first word's share of the sizes of a text's scores."""
    lines = []
    for method, texts in case.explained.items():
        shares = [abs(text.scores[0]) / max(np.abs(text.scores).sum(), 1e-12) for text in texts]
        lines.append(case.intervals.line(method, "share of the first word", shares))
    return Findings(lines)
