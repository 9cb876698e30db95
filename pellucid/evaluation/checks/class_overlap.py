"""Do the highest-scored words of different classes differ?

Hou and Castañón (2023), section 5.3 and figure 4, count tokens that classes share. A method that picks words which occur once shares
none either, so every overlap stands beside random lists and lists of the rarest words (`core/corpus/list_overlap.py`).
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from pellucid.core.corpus.document_frequencies import word_form
from pellucid.core.corpus.list_overlap import OverlapCurve, overlap_curve
from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.kinds import checks
from pellucid.core.results.check_outcome import CheckLine
from pellucid.core.results.interval import Curve, Interval
from pellucid.core.text.content_words import is_content_word
from pellucid.evaluation.checking.check_case import CheckCase
from pellucid.evaluation.checking.findings import Findings
from pellucid.evaluation.checking.scored_text import ScoredText

ClassScores = Mapping[
    str, Mapping[str, Sequence[float]]
]  # class -> word -> its mean relative score in each text


@checks.add(
    needs=frozenset(),
    cost="nothing: it reads the comparison's explanations",
    curve_axis="words in each class's list",
)
def class_overlap(case: CheckCase, *, k: int = 10, n_draws: int = 200) -> Findings:
    """The share of words that the lists of two explained classes have in common, each class's k words with the highest summed scores.

    k: words in a list, 1 or more, or as many as the class with the fewest has. n_draws: random lists, 1 or more. Function words and
    punctuation are left out. The random lists' interval is the range of 95 % of them.
    """
    at_least("k", k, 1)
    at_least("n_draws", n_draws, 1)
    overlaps = {
        method: _overlap(scores_by_class(case.explained[method]), k, n_draws, case.request.seed)
        for method in case.methods
    }
    lines = [line for method, one in overlaps.items() if one.lists for line in _lines(method, one)]
    curves = [_curve(method, one) for method, one in overlaps.items() if one.lists]
    notes = () if lines else ("Fewer than two classes are explained, so no lists can share words.",)
    return Findings(lines, curves, notes)


def scores_by_class(texts: Sequence[ScoredText]) -> ClassScores:
    """Each explained class -> its content words -> their mean relative score in every text that has them."""
    scores: dict[str, dict[str, list[float]]] = {}
    for text in texts:
        of_text: dict[str, list[float]] = {}
        for word, score in zip(text.words, text.relative.tolist(), strict=True):
            if is_content_word(word):
                of_text.setdefault(word_form(word), []).append(score)
        of_class = scores.setdefault(text.label, {})
        for form, own in of_text.items():
            of_class.setdefault(form, []).append(math.fsum(own) / len(own))
    return scores


def _overlap(scores: ClassScores, k: int, n_draws: int, seed: int) -> OverlapCurve:
    words = [scores[label] for label in sorted(scores) if scores[label]]
    lists = [sorted(own, key=lambda word, own=own: (-math.fsum(own[word]), word)) for own in words]  # type: ignore[misc]
    rarest = [sorted(own, key=lambda word, own=own: (len(own[word]), word)) for own in words]  # type: ignore[misc]
    return overlap_curve(lists, rarest, k, n_draws, seed)


def _lines(method: str, one: OverlapCurve) -> list[CheckLine]:
    unknown = float("nan")  # a single number, without draws of its own
    n, measure = len(one.lists), f"shared words of the top {len(one.lists)}"
    return [
        CheckLine(method, measure, Interval(one.lists[-1], unknown, unknown), n, "the method"),
        CheckLine(
            method,
            measure,
            Interval(one.random_mean[-1], one.random_low[-1], one.random_high[-1]),
            n,
            "random lists",
        ),
        CheckLine(method, measure, Interval(one.rarest[-1], unknown, unknown), n, "the rarest words"),
    ]


def _curve(method: str, one: OverlapCurve) -> Curve:
    return Curve(
        method, "class_overlap", tuple(np.array(one.k, dtype=float).tolist()), one.lists, one.lists, one.lists
    )
