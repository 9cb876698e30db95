"""Diagnostics and facts of one explanation as sentences for people who never heard of attribution."""

from collections.abc import Sequence

from pellucid.core.explaining.diagnostics import brief_of, sentence_of
from pellucid.core.results.explanation import Explanation, Scored
from pellucid.reports.wording.method_facts import MethodFacts
from pellucid.reports.wording.numbers import number, signed


def diagnostics_in_words(explanation: Explanation) -> list[str]:
    """A sentence for each diagnostic that has one; the others stand among the expert's facts."""
    sentences = (sentence_of(name, value) for name, value in explanation.diagnostics.items())
    return [sentence for sentence in sentences if sentence]


def in_brief(explanation: Explanation) -> list[str]:
    """A few words for each diagnostic that has them, and for rows not shown: for methods side by side."""
    notes = (brief_of(name, value) for name, value in explanation.diagnostics.items())
    return [*(f"first {kind} of {len(labels)}" for kind, labels in explanation.rows), *filter(None, notes)]


def parity_in_words(explanations: Sequence[Explanation]) -> str:
    """How close the explained passes came to the model's own answer, if it was measured."""
    gaps = [found.diagnostics["parity"] for found in explanations if "parity" in found.diagnostics]
    if not gaps:
        return ""
    how_close = f"to within {number(max(gaps))}" if max(gaps) else "to the last digit"
    return f"The explained answer is the model’s own, {how_close}."


def hidden_in_words(explanation: Explanation, facts: MethodFacts) -> list[str]:
    """Where scores sum up: what the model's own marks, which are not part of the text, carry of the sum."""
    if not (facts.signed and facts.complete) or explanation.rows or not explanation.special.any():
        return []
    share = f"{signed(explanation.hidden_sum)} of the sum of {signed(float(explanation.scores.sum(dtype='float64')))}"
    return [f"Not drawn: the model's own marks around the text, which carry {share}."]


def row_in_words(explanation: Explanation) -> list[str]:
    """Which row is shown of an explanation that has several."""
    if not explanation.rows:
        return []
    parts = [f"{kind} {labels[0]} (the first of {len(labels)})" for kind, labels in explanation.rows]
    return [f"Shown: {', '.join(parts)}."]


def first_row(explanation: Explanation) -> Explanation:
    """The explanation, or the first of its rows."""
    return (
        explanation.row(*(labels[0] for _, labels in explanation.rows)) if explanation.rows else explanation
    )


def strongest(explanation: Explanation, k: int = 3) -> list[Scored]:
    """The k units of the text with the largest absolute scores that are not 0, strongest first."""
    order = sorted(explanation.ranking(), key=lambda index: -abs(explanation.scores[index]))
    return [explanation.scored(index) for index in order[:k] if explanation.scores[index]]


def clear(explanation: Explanation, k: int = 3) -> list[Scored]:
    """The strongest units, without those below a fifth of the strongest: what deserves emphasis."""
    found = strongest(explanation, k)
    return [unit for unit in found if abs(unit.score) >= abs(found[0].score) / 5]


def listed(units: Sequence[Scored]) -> str:
    """“loved” +0.81, “every” +0.30"""
    return ", ".join(f"“{unit.text}” {signed(unit.score)}" for unit in units)
