"""Checks on texts alone: small edits, words of classes, and ranks of words."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from pellucid.base.checks import at_least, whole
from pellucid.base.errors import BadFile
from pellucid.base.kinds import checks
from pellucid.comparison.check_case import CheckCase, Findings
from pellucid.comparison.scored_text import TAU, Explained, ScoredText, taus, top_measure, tops
from pellucid.comparison.word_correlation import synonym_examples
from pellucid.results.bootstrap import t_interval
from pellucid.results.interval import CheckLine, Curve, Interval
from pellucid.results.word_lists import OverlapCurve, overlap_curve, word_form
from pellucid.text.example import Example
from pellucid.text.lexicon import is_content_word
from pellucid.text.wordnet import WordNet

MOST_EDITS = 1000
WORST, FIRST = "the worst", "the first"


@checks.add(
    needs=frozenset({"explainer"}),
    cost="the methods on every text, n_edits times more",
    again="n_edits",
    long=True,
)
def fragility(case: CheckCase, *, n_edits: int = 8, k: int = 3) -> Findings:
    """How similarly a method ranks the words of a text with one synonym, for the worst of a few: Kendall's tau, and the
    overlap of the k highest.

    How far can one word move an explanation, while the model answers the same?

    Source: Ghorbani, Abid & Zou (2019), "Interpretation of Neural Networks Is Fragile", section 4 (rank
    correlation, top-k intersection), for the worst of a few words that are exchanged in place of a
    search along gradients. A model may read an edited text in another way and be right to explain it
    otherwise, so the number is of model and method together.

    n_edits: texts with one word replaced each, at most, 1 to 1,000; the first, which nobody chose, stands beside the
    worst. k: how many words are compared, 1 or more. Edits that change the answer do not count. A word and its synonym
    are compared as one.
    """
    whole("n_edits", n_edits, 1, MOST_EDITS)
    at_least("k", k, 1)
    try:
        wordnet = WordNet()
    except BadFile:
        return Findings((), notes=("Left out: WordNet is not installed.",))
    edited = [synonym_examples(example, n_edits, wordnet, case.request.seed) for example in case.examples]
    values = _values(case, edited, k)
    lines = [
        case.intervals.line(method, measure, form(values[method, measure]), beside)
        for method in case.methods
        for measure in (TAU, top_measure(k))
        for beside, form in ((WORST, _lowest), (FIRST, _first))
    ]
    without = sum(not some for some in edited)
    notes = [f"{without} of {len(edited)} texts have no word with a synonym."] if without else []
    return Findings(lines, notes=notes)


def _values(case: CheckCase, edited: Sequence[Sequence[Example]], k: int) -> dict[tuple[str, str], np.ndarray]:
    """(method, measure) -> [text edit]; nan where there is no such edit, the answer changes or nothing can be
    ranked.
    """
    numbers = [(text, edit) for text, some in enumerate(edited) for edit in range(len(some))]
    again = case.explain(examples=[edited[text][edit] for text, edit in numbers])
    width = max(map(len, edited), default=0)
    values = {}
    for method in case.methods:
        for measure, row in _agreement(case, again, method, [text for text, _ in numbers], k).items():
            table = np.full((len(edited), max(1, width)), np.nan)
            for (text, edit), value in zip(numbers, row, strict=True):
                table[text, edit] = value
            values[method, measure] = table
    return values


def _agreement(case: CheckCase, again: Explained, method: str, texts: Sequence[int], k: int) -> dict[str, list[float]]:
    """measure -> [edit]: of each explanation with that of its text; nan where the answer changed."""
    ones, others = [case.explained[method][text] for text in texts], again[method]
    same = [before.predicted == after.predicted for before, after in zip(ones, others, strict=True)]
    rows = {TAU: taus(ones, others), top_measure(k): tops(ones, others, k)}
    return {
        measure: [value if is_same else np.nan for value, is_same in zip(row, same, strict=True)]
        for measure, row in rows.items()
    }


def _lowest(table: np.ndarray) -> np.ndarray:
    """[text edit] -> [text]: the lowest known value."""
    lowest = np.where(np.isnan(table), np.inf, table).min(1)
    return np.where(np.isinf(lowest), np.nan, lowest)


def _first(table: np.ndarray) -> np.ndarray:
    """[text edit] -> [text]: the first known value."""
    return np.asarray(table[np.arange(len(table)), (~np.isnan(table)).argmax(1)])


ClassScores = Mapping[str, Mapping[str, Sequence[float]]]  # class -> word -> its mean relative score in each text


@checks.add(
    needs=frozenset(),
    cost="nothing: it reads the comparison's explanations",
    curve_axis="words in each class's list",
)
def class_overlap(case: CheckCase, *, k: int = 10, n_draws: int = 200) -> Findings:
    """The share of words that the lists of two explained classes have in common, each class's k words with the highest
    summed scores.

    Do the highest-scored words of different classes differ?

    Source: Hou and Castañón (2023), section 5.3 and figure 4, count tokens that classes share. A method
    that picks words which occur once shares none either, so every overlap stands beside random lists
    and lists of the rarest words (`results/word_lists.py`).

    k: words in a list, 1 or more, or as many as the class with the fewest has. n_draws: random lists, 1 or more.
    Function words and punctuation are left out. The random lists' interval is the range of 95 % of them.
    """
    at_least("k", k, 1)
    at_least("n_draws", n_draws, 1)
    overlaps = {
        method: _overlap(scores_by_class(case.explained[method]), k, n_draws, case.request.seed)
        for method in case.methods
    }
    lines = [line for method, overlap in overlaps.items() if overlap.lists for line in _lines(method, overlap)]
    curves = [_curve(method, overlap) for method, overlap in overlaps.items() if overlap.lists]
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
        for form, word_scores in of_text.items():
            of_class.setdefault(form, []).append(math.fsum(word_scores) / len(word_scores))
    return scores


def _overlap(scores: ClassScores, k: int, n_draws: int, seed: int) -> OverlapCurve:
    words = [scores[label] for label in sorted(scores) if scores[label]]
    lists = [
        sorted(by_word, key=lambda word, by_word=by_word: (-math.fsum(by_word[word]), word))  # type: ignore[misc]
        for by_word in words
    ]
    rarest = [
        sorted(by_word, key=lambda word, by_word=by_word: (len(by_word[word]), word))  # type: ignore[misc]
        for by_word in words
    ]
    return overlap_curve(lists, rarest, k, n_draws, seed)


def _lines(method: str, overlap: OverlapCurve) -> list[CheckLine]:
    unknown = float("nan")  # a single number, without draws of its own
    n, measure = len(overlap.lists), f"shared words of the top {len(overlap.lists)}"
    return [
        CheckLine(method, measure, Interval(overlap.lists[-1], unknown, unknown), n, "the method"),
        CheckLine(
            method,
            measure,
            Interval(overlap.random_mean[-1], overlap.random_low[-1], overlap.random_high[-1]),
            n,
            "random lists",
        ),
        CheckLine(method, measure, Interval(overlap.rarest[-1], unknown, unknown), n, "the rarest words"),
    ]


def _curve(method: str, overlap: OverlapCurve) -> Curve:
    return Curve(
        method,
        "class_overlap",
        tuple(np.array(overlap.k, dtype=float).tolist()),
        overlap.lists,
        overlap.lists,
        overlap.lists,
    )


@checks.add(needs=frozenset(), cost="nothing: it reads the comparison's explanations")
def word_ranks(case: CheckCase, *, k: int = 5, min_count: int = 5) -> Findings:
    """The k words with the highest and with the lowest mean score, each text's scores divided by the largest size among
    them.

    Which words does a method score highest and lowest on average?

    Source: Wu & Ong (2021), tables 2, 4, 5 and 6 (METHODS S2-9): the five words with the highest and
    the lowest mean score, of those that occur five times or more, without punctuation (corrections.md
    A2.10).

    k: how many words, 1 or more. min_count: how often a word must occur, 1 or more. Words are compared in lower case,
    punctuation is left out. The intervals are over a word's occurrences.
    """
    at_least("k", k, 1)
    at_least("min_count", min_count, 1)
    lines: list[CheckLine] = []
    for method in case.methods:
        scores = scores_of_words(case.explained[method])
        lines += _ranked(method, {word: score for word, score in scores.items() if len(score) >= min_count}, k)
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
    lines = {word: t_interval(score) for word, score in scores.items()}
    order = sorted(lines, key=lambda word: (-lines[word].mean, word))
    ends = {"highest": order[:k], "lowest": order[::-1][:k]}
    return [
        CheckLine(method, measure, lines[word], len(scores[word]), word)
        for measure, words in ends.items()
        for word in words
    ]
