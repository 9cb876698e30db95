"""Which words does a method score highest and lowest on average?

Wu & Ong (2021), tables 2, 4, 5 and 6 (METHODS S2-9): the five words with the highest and the lowest mean score, of those that occur
five times or more, without punctuation (corrections.md A2.10).
"""

from collections.abc import Mapping, Sequence

from pellucid.core.corpus.document_frequencies import word_form
from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.kinds import checks
from pellucid.core.results.check_outcome import CheckLine
from pellucid.core.results.t_interval import t_interval
from pellucid.evaluation.checking.check_case import CheckCase
from pellucid.evaluation.checking.findings import Findings
from pellucid.evaluation.checking.scored_text import ScoredText


@checks.add(needs=frozenset(), cost="nothing: it reads the comparison's explanations")
def word_ranks(case: CheckCase, *, k: int = 5, min_count: int = 5) -> Findings:
    """The k words with the highest and with the lowest mean score, each text's scores divided by the largest size among them.

    k: how many words, 1 or more. min_count: how often a word must occur, 1 or more. Words are compared in lower case, punctuation is
    left out. The intervals are over a word's occurrences.
    """
    at_least("k", k, 1)
    at_least("min_count", min_count, 1)
    lines: list[CheckLine] = []
    for method in case.methods:
        scores = scores_of_words(case.explained[method])
        lines += _ranked(method, {word: own for word, own in scores.items() if len(own) >= min_count}, k)
    notes = () if lines else (f"No word occurs {min_count} times in these texts.",)
    return Findings(lines, notes=notes)


def scores_of_words(texts: Sequence[ScoredText]) -> dict[str, list[float]]:
    """Each word's form -> the relative scores of its occurrences; what has neither letters nor digits is left out."""
    scores: dict[str, list[float]] = {}
    for text in texts:
        for word, score in zip(text.words, text.relative.tolist(), strict=True):
            if any(character.isalnum() for character in word):
                scores.setdefault(word_form(word), []).append(score)
    return scores


def _ranked(method: str, scores: Mapping[str, Sequence[float]], k: int) -> list[CheckLine]:
    lines = {word: t_interval(own) for word, own in scores.items()}
    order = sorted(lines, key=lambda word: (-lines[word].mean, word))
    ends = {"highest": order[:k], "lowest": order[::-1][:k]}
    return [
        CheckLine(method, measure, lines[word], len(scores[word]), word)
        for measure, words in ends.items()
        for word in words
    ]
