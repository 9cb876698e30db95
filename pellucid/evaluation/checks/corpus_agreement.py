"""Does a method score the same words highly on other data sets, under other models?

Wu & Ong (2021), section 4.4 and figure 3 (METHODS S2-8): for each two data sets, each with a model of its own, the correlation of
mean scores over the vocabulary that all of them share. In the paper attention agrees as well as gradients do: agreement is no
evidence of faithfulness.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

from pellucid.core.corpus.document_frequencies import word_form
from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.kinds import checks
from pellucid.core.results.check_outcome import CheckLine
from pellucid.evaluation.checking.check_case import CheckCase
from pellucid.evaluation.checking.findings import Findings
from pellucid.evaluation.checking.scored_text import ScoredText
from pellucid.evaluation.checking.word_correlation import common_correlation

OWN = "these texts"
MEASURE = "Pearson over common words"
Texts = Mapping[str, Sequence[ScoredText]]  # data set -> its texts, by one method


@checks.add(needs=frozenset({"corpora"}), cost="nothing: it reads the explanations of all data sets")
def corpus_agreement(case: CheckCase, *, min_count: int = 1) -> Findings:
    """How the sizes of a word's scores correlate between two data sets, over the words that all data sets share.

    min_count: how often a word must occur in each data set, 1 or more. Punctuation counts as in the paper. Each data set is explained
    by its own model; methods that not all of them have are left out.
    """
    at_least("min_count", min_count, 1)
    lines: list[CheckLine] = []
    left_out = []
    for method in case.methods:
        if not all(method in corpus for corpus in case.corpora.values()):
            left_out.append(method)
            continue
        texts = {OWN: case.explained[method], **{name: own[method] for name, own in case.corpora.items()}}
        lines += _of_method(case, method, texts, min_count)
    notes = [f"{method} is left out: not all data sets are explained by it." for method in left_out]
    return Findings(lines, notes=notes)


def _of_method(case: CheckCase, method: str, texts: Texts, min_count: int) -> list[CheckLine]:
    counts = [_counts(own) for own in texts.values()]
    forms = sorted(form for form in counts[0] if all(one.get(form, 0) >= min_count for one in counts))
    return [
        CheckLine(
            method,
            MEASURE,
            common_correlation(texts[one], texts[other], forms, case.intervals),
            len(forms),
            f"{one} and {other}",
        )
        for one, other in combinations(texts, 2)
    ]


def _counts(texts: Sequence[ScoredText]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for text in texts:
        for word in text.words:
            counts[word_form(word)] = counts.get(word_form(word), 0) + 1
    return counts
