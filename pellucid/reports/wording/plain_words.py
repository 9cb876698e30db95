"""Diagnostics and facts of one explanation as sentences for people who never heard of attribution."""

from collections.abc import Sequence

from pellucid.core.explaining.diagnostics import brief_of, sentence_of, worst_of
from pellucid.core.results.explanation import Explanation, Scored
from pellucid.reports.wording.method_facts import MethodFacts
from pellucid.reports.wording.numbers import number, signed

MOST_NAMED = 5  # texts of a caution

# Checks of the method rather than news of a text: a page of several texts says once how the worst of them did.
CHECKS = frozenset(
    {"completeness_gap", "conservation_gap", "fit_r2", "standard_error", "overlap_disagreement"}
)
NOTABLE = 0.1  # a smaller part of the scores than this is not mentioned


def diagnostics_in_words(explanation: Explanation, checks: bool = True) -> list[str]:
    """A sentence for each diagnostic that has one, of the row that is drawn; the others stand among the expert's facts.

    checks: whether to include what tests the method.
    """
    named = shown_row(explanation).diagnostics.items()
    sentences = (sentence_of(name, value) for name, value in named if checks or name not in CHECKS)
    return [sentence for sentence in sentences if sentence]


def worst_checks_in_words(explanations: Sequence[Explanation]) -> list[str]:
    """How the worst of several texts did in each check of their method, in a sentence a check."""
    values: dict[str, list[float]] = {}
    for explanation in explanations:
        for name, value in explanation.diagnostics.items():
            if name in CHECKS and value == value:
                values.setdefault(name, []).append(value)
    sentences = [sentence_of(name, worst_of(name, of_texts)) for name, of_texts in values.items()]
    lead = f"In the worst of {len(explanations)} texts: "
    return [f"{lead}{sentence[0].lower()}{sentence[1:]}" for sentence in sentences if sentence]


def in_brief(explanation: Explanation) -> list[str]:
    """A few words for each diagnostic that has them, and for rows not shown: for methods side by side."""
    rows = (
        f"{'last' if kind == 'layer' else 'first'} {kind} of {len(labels)}"
        for kind, labels in explanation.rows
    )
    return [*rows, *diagnostics_in_brief(explanation)]


def diagnostics_in_brief(explanation: Explanation) -> list[str]:
    """A few words for each diagnostic that has them."""
    return list(filter(None, (brief_of(name, value) for name, value in explanation.diagnostics.items())))


def parity_in_words(explanations: Sequence[Explanation]) -> str:
    """How close the explained answer is to the model's own, if it was measured."""
    gaps = [one.diagnostics["parity"] for one in explanations if "parity" in one.diagnostics]
    if not gaps:
        return ""
    if not max(gaps):
        return "The answer that is explained is exactly the model’s own."
    return f"The answer that is explained differs from the model’s own by at most {number(max(gaps))}."


def hidden_in_words(explanation: Explanation, facts: MethodFacts) -> list[str]:
    """For methods whose scores add up: what special tokens, which are not drawn, have of the sum; silent where little."""
    if not (facts.signed and facts.complete) or explanation.rows or not explanation.special.any():
        return []
    sizes, hidden = abs(explanation.scores).sum(dtype="float64"), explanation.hidden_sum
    if abs(hidden) < NOTABLE * sizes:
        return []
    total = float(explanation.scores.sum(dtype="float64"))
    return [
        f"{signed(hidden)} of the scores’ sum of {signed(total)} belongs to no word but to the marks of beginning and "
        "end that the model puts around a text."
    ]


def row_in_words(explanation: Explanation) -> list[str]:
    """Which row of an explanation is shown, where it has several or is one of several."""
    if not explanation.rows and not explanation.of_row:
        return []
    parts = [f"{kind} {label}" for kind, label in explanation.of_row] + [
        f"{kind} {labels[-1]} (the last of {len(labels)})"
        if kind == "layer"
        else f"{kind} {labels[0]} (the first of {len(labels)})"
        for kind, labels in explanation.rows
    ]
    return [f"Shown: {', '.join(parts)}."]


def shown_row(explanation: Explanation) -> Explanation:
    """The explanation, or the first of its rows; of layers the last."""
    return explanation.shown_row()


def first_names(ids: Sequence[str]) -> str:
    """The first texts by name, and how many more there are: "reviews-7, reviews-31 and 4 more"."""
    names = list(dict.fromkeys(filter(None, ids)))
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"


def strongest(explanation: Explanation, k: int = 3) -> list[Scored]:
    """The k units of the text with the largest absolute scores that are not 0, strongest first."""
    order = sorted(explanation.ranking(), key=lambda index: -abs(explanation.scores[index]))
    return [explanation.scored(index) for index in order[:k] if explanation.scores[index]]


def clear(explanation: Explanation, k: int = 3) -> list[Scored]:
    """The strongest units, without those below a fifth of the strongest: what deserves emphasis."""
    units = strongest(explanation, k)
    return [unit for unit in units if abs(unit.score) >= abs(units[0].score) / 5]


ALL_ZERO = "nothing, all scores are 0"
ALL_ROUNDING = "nothing, no score is larger than rounding"


def strongest_in_words(explanation: Explanation, k: int = 3) -> str:
    """The k strongest units with their scores, in one line; what reads alike, but for case, with one score stands once."""
    different: dict[tuple[str, float], Scored] = {}
    for unit in strongest(explanation, len(explanation.units)):
        different.setdefault((unit.text.casefold(), unit.score), unit)
    is_rounded = any("rounding" in caveat for caveat in explanation.caveats)
    return listed(list(different.values())[:k]) or (ALL_ROUNDING if is_rounded else ALL_ZERO)


def listed(units: Sequence[Scored]) -> str:
    """“loved” +0.81, “every” +0.30"""
    return ", ".join(f"“{unit.text}” {signed(unit.score)}" for unit in units)
