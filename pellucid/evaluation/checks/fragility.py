"""How far can one word move an explanation, while the model answers the same?

Ghorbani, Abid & Zou (2019), "Interpretation of Neural Networks Is Fragile", section 4 (rank correlation, top-k intersection), for the worst of
a few words that are exchanged in place of a search along gradients. A model may read an edited text in another way and be right to
explain it otherwise, so the number is of model and method together.
"""

from collections.abc import Sequence

import numpy as np

from pellucid.core.foundation.checks import at_least, whole
from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.kinds import checks
from pellucid.core.lexicon.wordnet import WordNet
from pellucid.core.text.example import Example
from pellucid.evaluation.checking.agreement import TAU, taus, top_measure, tops
from pellucid.evaluation.checking.check_case import CheckCase
from pellucid.evaluation.checking.findings import Findings
from pellucid.evaluation.checking.scored_text import Explained
from pellucid.evaluation.checking.text_edits import synonym_examples

MOST_EDITS = 1000
WORST, FIRST = "the worst", "the first"


@checks.add(
    needs=frozenset({"explainer"}),
    cost="the methods on every text, n_edits times more",
    again="n_edits",
    long=True,
)
def fragility(case: CheckCase, *, n_edits: int = 8, k: int = 3) -> Findings:
    """How similarly a method ranks the words of a text with one synonym, for the worst of a few: Kendall's tau, and the overlap of the k highest.

    n_edits: texts with one word replaced each, at most, 1 to 1,000; the first, which nobody chose, stands beside the worst. k: how many words are
    compared, 1 or more. Edits that change the answer do not count. A word and its synonym are compared as one.
    """
    whole("n_edits", n_edits, 1, MOST_EDITS)
    at_least("k", k, 1)
    try:
        wordnet = WordNet()
    except BadFile:
        return Findings((), notes=("Left out: Debian's package wordnet-base is not installed.",))
    edited = [synonym_examples(one, n_edits, wordnet, case.request.seed) for one in case.examples]
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


def _values(
    case: CheckCase, edited: Sequence[Sequence[Example]], k: int
) -> dict[tuple[str, str], np.ndarray]:
    """(method, measure) -> [text edit]; nan where there is no such edit, the answer changes or nothing can be ranked."""
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


def _agreement(
    case: CheckCase, again: Explained, method: str, texts: Sequence[int], k: int
) -> dict[str, list[float]]:
    """measure -> [edit]: of each explanation with that of its text; nan where the answer changed."""
    ones, others = [case.explained[method][text] for text in texts], again[method]
    same = [one.predicted == other.predicted for one, other in zip(ones, others, strict=True)]
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
