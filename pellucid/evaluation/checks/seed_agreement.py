"""Does a method say the same of another training of the model, which differs in its random seed alone?

Wu & Ong (2021), "On Explaining Your Explanations of BERT", section 4.3 and table 1 (METHODS S2-7). They correlate word types,
as their code shows (corrections.md A2.11); tokens are the stricter question. Scores that ignore the model agree perfectly, so a
high number is no evidence of faithfulness.
"""

from collections.abc import Sequence
from typing import Literal, get_args

from pellucid.core.foundation.checks import one_of
from pellucid.core.foundation.kinds import checks
from pellucid.core.results.check_outcome import CheckLine
from pellucid.evaluation.checking.check_case import CheckCase
from pellucid.evaluation.checking.findings import Findings
from pellucid.evaluation.checking.scored_text import Explained, ScoredText, alike
from pellucid.evaluation.checking.word_correlation import token_correlation, type_correlation

Over = Literal["type", "token"]
CORRELATIONS = {"type": type_correlation, "token": token_correlation}
MEASURES = {"type": "Pearson over word types", "token": "Pearson over tokens"}


@checks.add(needs=frozenset({"twins"}), cost="the methods on every text, once a twin", again="twins")
def seed_agreement(case: CheckCase, *, over: Over = "type") -> Findings:
    """How the scores of words correlate with those under a twin: a training of the model with another seed.

    over: "type", the mean relative score of each word form, or "token", each word of each text. Texts of which the twin explains
    another class are left out, since their scores answer another question.
    """
    one_of("over", over, get_args(Over))
    lines: list[CheckLine] = []
    notes: list[str] = []
    for name, twin in case.twins.items():
        of_twin, left_out = agreement_lines(case, case.explain(twin), name, over)
        lines += of_twin
        if left_out:
            notes.append(
                f"{left_out} of {len(case.examples)} texts are left out: {name} answers them otherwise."
            )
    return Findings(lines, notes=notes)


def agreement_lines(
    case: CheckCase, explained: Explained, name: str, over: Over
) -> tuple[list[CheckLine], int]:
    """A line a method of the case beside the explanations of a twin, and how many texts the twin answers otherwise."""
    lines, left_out = [], 0
    for method in case.methods:
        ones, others = _comparable(case.explained[method], explained[method])
        value, count = CORRELATIONS[over](ones, others, case.intervals)
        lines.append(CheckLine(method, MEASURES[over], value, count, name))
        left_out = len(case.examples) - len(ones)
    return lines, left_out


def _comparable(
    ones: Sequence[ScoredText], others: Sequence[ScoredText]
) -> tuple[list[ScoredText], list[ScoredText]]:
    pairs = [(one, other) for one, other in zip(ones, others, strict=True) if alike(one, other)]
    return [one for one, _ in pairs], [other for _, other in pairs]
