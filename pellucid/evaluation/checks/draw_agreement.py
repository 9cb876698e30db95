"""Does a method that draws at random say the same with another seed?

Sampling methods give other scores with every seed; with too few samples the order of the words is luck.
"""

from itertools import combinations

import numpy as np

from pellucid.core.foundation.checks import at_least, whole
from pellucid.core.foundation.kinds import checks
from pellucid.core.passes.seeds import HIGHEST_SEED
from pellucid.core.results.check_outcome import CheckLine
from pellucid.evaluation.checking.agreement import TAU, taus, top_measure, tops
from pellucid.evaluation.checking.check_case import CheckCase
from pellucid.evaluation.checking.findings import Findings

MOST_SEEDS = 100


@checks.add(
    needs=frozenset({"explainer"}),
    cost="the random methods on every text, n_seeds - 1 times more",
    again="n_seeds",
    of_random=True,
)
def draw_agreement(case: CheckCase, *, n_seeds: int = 3, k: int = 3) -> Findings:
    """How similarly a random method ranks the words of a text with other seeds: Kendall's tau, and the overlap of the k highest.

    n_seeds: seeds that are compared, each with each, 2 or more; the comparison's own is the first. k: how many words are compared,
    1 or more. Methods that draw nothing are left out: they give the same scores with every seed.
    """
    whole("n_seeds", n_seeds, 2, MOST_SEEDS)
    at_least("k", k, 1)
    random = [method for method in case.methods if case.facts(method)["random"]]
    if not random:
        return Findings((), notes=("No method here draws at random.",))
    seeds = [(case.request.seed + number) % (HIGHEST_SEED + 1) for number in range(1, n_seeds)]
    runs = [case.explained, *(case.explain(seed=seed, methods=random) for seed in seeds)]
    lines: list[CheckLine] = []
    for method in random:
        pairs = list(combinations([run[method] for run in runs], 2))
        for measure, values in (
            (TAU, [taus(one, other) for one, other in pairs]),
            (top_measure(k), [tops(one, other, k) for one, other in pairs]),
        ):
            lines.append(case.intervals.line(method, measure, np.mean(values, axis=0)))
    return Findings(lines)
