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
    """How close the explained answer is to the model's own, if it was measured."""
    gaps = [one.diagnostics["parity"] for one in explanations if "parity" in one.diagnostics]
    if not gaps:
        return ""
    if not max(gaps):
        return "The answer that is explained is exactly the model’s own."
    return f"The answer that is explained differs from the model’s own by at most {number(max(gaps))}."


def hidden_in_words(explanation: Explanation, facts: MethodFacts) -> list[str]:
    """For methods whose scores add up: the share of the sum that belongs to special tokens, which are not drawn."""
    if not (facts.signed and facts.complete) or explanation.rows or not explanation.special.any():
        return []
    total = float(explanation.scores.sum(dtype="float64"))
    share = f"{signed(explanation.hidden_sum)} of the sum of {signed(total)}"
    return [f"Not drawn: the symbols that the model adds around the text; they carry {share}."]


def row_in_words(explanation: Explanation) -> list[str]:
    """Which row of an explanation is shown, where it has several."""
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
    units = strongest(explanation, k)
    return [unit for unit in units if abs(unit.score) >= abs(units[0].score) / 5]


ALL_ZERO = "nothing, all scores are 0"


def strongest_in_words(explanation: Explanation, k: int = 3) -> str:
    """The k strongest units with their scores, in one line."""
    return listed(strongest(explanation, k)) or ALL_ZERO


def listed(units: Sequence[Scored]) -> str:
    """“loved” +0.81, “every” +0.30"""
    return ", ".join(f"“{unit.text}” {signed(unit.score)}" for unit in units)
