"""Checks of agreement: does a method say the same again, of other draws, edits, trainings and corpora, and as other
methods?
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Literal, get_args

import numpy as np

from pellucid.base.checks import at_least, listed_members, one_of, quoted, whole
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import checks
from pellucid.comparison.check_case import CheckCase, Findings
from pellucid.comparison.scored_text import (
    TAU,
    Explained,
    ScoredText,
    alike,
    tau_of,
    taus,
    top_measure,
    top_of,
    tops,
)
from pellucid.comparison.word_correlation import (
    EDITS,
    common_correlation,
    edit_named,
    edited,
    token_correlation,
    type_correlation,
)
from pellucid.results.interval import CheckLine
from pellucid.results.word_lists import word_form
from pellucid.run.blank import HIGHEST_SEED
from pellucid.text.example import Example


@checks.add(needs=frozenset(), cost="nothing: it reads the comparison's explanations")
def method_agreement(case: CheckCase, *, k: int = 3) -> Findings:
    """How similarly two methods rank the words of a text: Kendall's tau, and the overlap of the k highest-scored words.

    Do methods rank the words of a text alike?

    Source: Neely, Schouten, Bleeker & Lucic (2021), "Order in the Court", section 3; Krishna et al.
    (2022), "The Disagreement Problem in Explainable Machine Learning", section 4. Agreement is no
    evidence of truth: methods that work alike err alike.

    k: how many words are compared, 1 or more; texts of no more words than that are not judged by their overlap. If one
    of two methods has no negative scores by its design, the sizes of the scores are compared.
    """
    at_least("k", k, 1)
    lines: list[CheckLine] = []
    for method, other_method in combinations(case.methods, 2):
        signed = bool(case.facts(method)["signed"] and case.facts(other_method)["signed"])
        pairs = _pairs(case.explained[method], case.explained[other_method], signed)
        lines += [
            case.intervals.line(method, TAU, [tau_of(*pair) for pair in pairs], other_method),
            case.intervals.line(method, top_measure(k), [top_of(*pair, k) for pair in pairs], other_method),
        ]
    return Findings(lines)


def _pairs(
    ones: Sequence[ScoredText], others: Sequence[ScoredText], signed: bool
) -> list[tuple[np.ndarray, np.ndarray]]:
    form = (lambda scores: scores) if signed else np.abs
    return [(form(first.scores), form(second.scores)) for first, second in zip(ones, others, strict=True)]


Over = Literal["type", "token"]
CORRELATIONS = {"type": type_correlation, "token": token_correlation}
MEASURES = {"type": "Pearson over word types", "token": "Pearson over tokens"}


@checks.add(needs=frozenset({"twins"}), cost="the methods on every text, once a twin", again="twins")
def seed_agreement(case: CheckCase, *, over: Over = "type") -> Findings:
    """How the scores of words correlate with those under a twin: a training of the model with another seed.

    Does a method say the same of another training of the model, which differs in its random seed alone?

    Source: Wu & Ong (2021), "On Explaining Your Explanations of BERT", section 4.3 and table 1 (METHODS
    S2-7). They correlate word types, as their code shows (corrections.md A2.11); tokens are the
    stricter question. Scores that ignore the model agree perfectly, so a high number is no evidence of
    faithfulness.

    over: "type", the mean relative score of each word form, or "token", each word of each text. Texts of which the twin
    explains another class are left out, since their scores answer another question.
    """
    one_of("over", over, get_args(Over))
    lines: list[CheckLine] = []
    notes: list[str] = []
    for name, twin in case.twins.items():
        of_twin, left_out = agreement_lines(case, case.explain(twin), name, over)
        lines += of_twin
        if left_out:
            notes.append(f"{left_out} of {len(case.examples)} texts are left out: {name} answers them otherwise.")
    return Findings(lines, notes=notes)


def agreement_lines(case: CheckCase, explained: Explained, name: str, over: Over) -> tuple[list[CheckLine], int]:
    """A line a method of the case beside the explanations of a twin, and how many texts the twin answers otherwise."""
    lines, left_out = [], 0
    for method in case.methods:
        ones, others = _comparable(case.explained[method], explained[method])
        value, count = CORRELATIONS[over](ones, others, case.intervals)
        lines.append(CheckLine(method, MEASURES[over], value, count, name))
        left_out = len(case.examples) - len(ones)
    return lines, left_out


def _comparable(ones: Sequence[ScoredText], others: Sequence[ScoredText]) -> tuple[list[ScoredText], list[ScoredText]]:
    pairs = [(first, second) for first, second in zip(ones, others, strict=True) if alike(first, second)]
    return [first for first, _ in pairs], [second for _, second in pairs]


MOST_SEEDS = 100


@checks.add(
    needs=frozenset({"explainer"}),
    cost="the random methods on every text, n_seeds - 1 times more",
    again="n_seeds",
    of_random=True,
)
def draw_agreement(case: CheckCase, *, n_seeds: int = 3, k: int = 3) -> Findings:
    """How similarly a random method ranks the words of a text with other seeds: Kendall's tau, and the overlap of the k
    highest.

    Does a method that draws at random say the same with another seed?

    Source: Sampling methods give other scores with every seed; with too few samples the order of the
    words is luck.

    n_seeds: seeds that are compared, each with each, 2 or more; the comparison's own is the first. k: how many words
    are compared, 1 or more. Methods that draw nothing are left out: they give the same scores with every seed.
    """
    whole("n_seeds", n_seeds, 2, MOST_SEEDS)
    at_least("k", k, 1)
    random = [method for method in case.methods if case.facts(method)["random"]]
    if not random:
        return Findings((), notes=("No method here draws at random.",))
    seeds = [(case.request.seed + index) % (HIGHEST_SEED + 1) for index in range(1, n_seeds)]
    runs = [case.explained, *(case.explain(seed=seed, methods=random) for seed in seeds)]
    lines: list[CheckLine] = []
    for method in random:
        pairs = list(combinations([run[method] for run in runs], 2))
        for measure, values in (
            (TAU, [taus(first, second) for first, second in pairs]),
            (top_measure(k), [tops(first, second, k) for first, second in pairs]),
        ):
            lines.append(case.intervals.line(method, measure, np.mean(values, axis=0)))
    return Findings(lines)


@checks.add(needs=frozenset({"explainer"}), cost="the methods on every text, once an edit", again="edits")
def edit_agreement(case: CheckCase, *, edits: Sequence[str] = ("case", "blanks", "synonyms"), k: int = 3) -> Findings:
    """How similarly a method ranks the words of a text that is written otherwise: Kendall's tau, and the overlap of the
    k highest.

    Does an explanation stay the same when a text is written otherwise and the model answers the same?

    Source: Ding & Koehn (2021), "Evaluating Saliency Methods for Neural Language Models", section 4
    (consistency); Yin et al. (2022), "On the Sensitivity and Stability of Model Interpretations in
    NLP". A model may read an edited text in another way and be right to explain it otherwise, so the
    number is of model and method together.

    edits: "case", the text in lower case or in capitals; "blanks", two for each; "synonyms", one content word replaced,
    where Debian's WordNet is installed. k: how many words are compared, 1 or more. Texts whose answer changes are left
    out.
    """
    at_least("k", k, 1)
    lines: list[CheckLine] = []
    notes: list[str] = []
    for name in _names(edits):
        edit = edit_named(name, case.request.seed)
        if edit is None:
            notes.append("Synonyms were left out: WordNet is not installed.")
            continue
        texts = edited(case.examples, edit)
        changed = [text.segments != example.segments for text, example in zip(texts, case.examples, strict=True)]
        again = case.explain(examples=texts)
        lines += _lines(case, again, changed, name, k)
        notes += _left_out(case, again, texts, name)
    return Findings(lines, notes=notes)


def _names(edits: Sequence[str]) -> list[str]:
    names = None if isinstance(edits, str) else listed_members(edits)
    if not names:
        raise BadSetting(f"edits={quoted(edits)} is not possible; give a list of {', '.join(EDITS)}.")
    for name in names:
        one_of("edits", name, EDITS)  # type: ignore[arg-type]  # it checks the kind too
    return [str(name) for name in names]


def _lines(case: CheckCase, again: Explained, changed: Sequence[bool], edit: str, k: int) -> list[CheckLine]:
    lines = []
    for method in case.methods:
        pairs = list(zip(case.explained[method], again[method], changed, strict=True))
        ones = [before for before, after, is_changed in pairs if is_changed and _is_same_answer(before, after)]
        others = [after for before, after, is_changed in pairs if is_changed and _is_same_answer(before, after)]
        lines += [
            case.intervals.line(method, TAU, taus(ones, others), edit),
            case.intervals.line(method, top_measure(k), tops(ones, others, k), edit),
        ]
    return lines


def _is_same_answer(before: ScoredText, after: ScoredText) -> bool:
    return before.predicted == after.predicted


def _left_out(case: CheckCase, again: Explained, texts: Sequence[Example], edit: str) -> list[str]:
    first = case.methods[0]
    pairs = list(zip(case.explained[first], again[first], strict=True))
    answers = sum(not _is_same_answer(before, after) for before, after in pairs)
    same = sum(text.segments == example.segments for text, example in zip(texts, case.examples, strict=True))
    counts = [f"{answers} are answered otherwise"] if answers else []
    counts += [f"{same} stay as they were"] if same else []
    return [f"Of {len(texts)} texts under the edit “{edit}”, {' and '.join(counts)}."] if counts else []


OWN = "these texts"
MEASURE = "Pearson over common words"
Texts = Mapping[str, Sequence[ScoredText]]  # data set -> its texts, by one method


@checks.add(needs=frozenset({"corpora"}), cost="nothing: it reads the explanations of all data sets")
def corpus_agreement(case: CheckCase, *, min_count: int = 1) -> Findings:
    """How the sizes of a word's scores correlate between two data sets, over the words that all data sets share.

    Does a method score the same words highly on other data sets, under other models?

    Source: Wu & Ong (2021), section 4.4 and figure 3 (METHODS S2-8): for each two data sets, each with
    a model of its own, the correlation of mean scores over the vocabulary that all of them share. In
    the paper attention agrees as well as gradients do: agreement is no evidence of faithfulness.

    min_count: how often a word must occur in each data set, 1 or more. Punctuation counts as in the paper. Each data
    set is explained by its own model; methods that not all of them have are left out.
    """
    at_least("min_count", min_count, 1)
    lines: list[CheckLine] = []
    left_out = []
    for method in case.methods:
        if not all(method in corpus for corpus in case.corpora.values()):
            left_out.append(method)
            continue
        texts = {OWN: case.explained[method], **{name: corpus[method] for name, corpus in case.corpora.items()}}
        lines += _of_method(case, method, texts, min_count)
    notes = [f"{method} is left out: not all data sets are explained by it." for method in left_out]
    return Findings(lines, notes=notes)


def _of_method(case: CheckCase, method: str, texts: Texts, min_count: int) -> list[CheckLine]:
    counts = [_counts(text) for text in texts.values()]
    forms = sorted(form for form in counts[0] if all(count.get(form, 0) >= min_count for count in counts))
    return [
        CheckLine(
            method,
            MEASURE,
            common_correlation(texts[first], texts[second], forms, case.intervals),
            len(forms),
            f"{first} and {second}",
        )
        for first, second in combinations(texts, 2)
    ]


def _counts(texts: Sequence[ScoredText]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for text in texts:
        for word in text.words:
            counts[word_form(word)] = counts.get(word_form(word), 0) + 1
    return counts
