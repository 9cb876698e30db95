"""Do methods rank the words of a text alike?

Neely, Schouten, Bleeker & Lucic (2021), "Order in the Court", section 3; Krishna et al. (2022), "The Disagreement Problem in
Explainable Machine Learning", section 4. Agreement is no evidence of truth: methods that work alike err alike.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.kinds import checks
from pellucid.core.results.check_outcome import CheckLine
from pellucid.evaluation.checking.agreement import TAU, tau_of, top_measure, top_of
from pellucid.evaluation.checking.check_case import CheckCase
from pellucid.evaluation.checking.findings import Findings
from pellucid.evaluation.checking.scored_text import ScoredText


@checks.add(needs=frozenset(), cost="nothing: it reads the comparison's explanations")
def method_agreement(case: CheckCase, *, k: int = 3) -> Findings:
    """How similarly two methods rank the words of a text: Kendall's tau, and the overlap of the k highest-scored words.

    k: how many words are compared, 1 or more; texts of no more words than that are not judged by their overlap. If one of two
    methods has no negative scores by its design, the sizes of the scores are compared.
    """
    at_least("k", k, 1)
    lines: list[CheckLine] = []
    for one, other in combinations(case.methods, 2):
        signed = bool(case.facts(one)["signed"] and case.facts(other)["signed"])
        pairs = _pairs(case.explained[one], case.explained[other], signed)
        lines += [
            case.intervals.line(one, TAU, [tau_of(*pair) for pair in pairs], other),
            case.intervals.line(one, top_measure(k), [top_of(*pair, k) for pair in pairs], other),
        ]
    return Findings(lines)


def _pairs(
    ones: Sequence[ScoredText], others: Sequence[ScoredText], signed: bool
) -> list[tuple[np.ndarray, np.ndarray]]:
    form = (lambda scores: scores) if signed else np.abs
    return [(form(one.scores), form(other.scores)) for one, other in zip(ones, others, strict=True)]
