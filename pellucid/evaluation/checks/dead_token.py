"""Does a word that the model cannot read get a score?

The axiom "dummy" of Sundararajan, Taly & Yan (2017), section 2.1, and Friedman (2004): what a function does not depend on gets
nothing. A word is put in front of every text and hidden from the model, so its true score is 0 exactly.
"""

import numpy as np

from pellucid.core.foundation.kinds import checks
from pellucid.evaluation.checking.check_case import CheckCase
from pellucid.evaluation.checking.findings import Findings, judged_lines
from pellucid.evaluation.checking.scored_text import ScoredText
from pellucid.evaluation.checking.thresholds import DEAD_SHARE

OWN_WEIGHTS = {
    "span_weights",
    "unit_weights",
    "rationale",
}  # of a method that reads what the model weighs or chooses
MEASURE = "weight of the dead word"


@checks.add(
    needs=frozenset({"explainer"}),
    cost="the methods on every text once more",
    again=1,
    rule="passes where the dead word weighs less than half of an average word",
)
def dead_token(case: CheckCase) -> Findings:
    """The weight that a method gives a word which the model cannot read: 0 for none, 1 for that of an average word.

    It is the word's share of all sizes of scores, times the number of words.
    """
    blind, texts = case.changes.without_first_word(case.model, case.examples)
    own = [method for method in case.methods if OWN_WEIGHTS & case.needs(method)]
    others = [method for method in case.methods if method not in own]
    explained = case.explain(blind, texts, methods=others)
    lines = [
        case.intervals.line(method, MEASURE, [weight_of_first(text) for text in explained[method]])
        for method in others
    ]
    notes = [
        f"{method} is left out: it is the model's own weights, which a hidden word does not have."
        for method in own
    ]
    return Findings(judged_lines(lines, below=DEAD_SHARE), notes=notes)


def weight_of_first(text: ScoredText) -> float:
    """The first word's share of the sizes, times the number of words, meant over draws; nan where nothing else is scored."""
    sizes = np.abs(text.draws)
    totals = sizes.sum(1)
    if len(text.scores) < 2 or not totals.all():
        return float("nan")
    return float((sizes[:, 0] / totals).mean() * len(text.scores))
