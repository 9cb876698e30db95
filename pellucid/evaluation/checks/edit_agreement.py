"""Does an explanation stay the same when a text is written otherwise and the model answers the same?

Ding & Koehn (2021), "Evaluating Saliency Methods for Neural Language Models", section 4 (consistency); Yin et al. (2022), "On the
Sensitivity and Stability of Model Interpretations in NLP". A model may read an edited text in another way and be right to explain
it otherwise, so the number is of model and method together.
"""

from collections.abc import Sequence

from pellucid.core.foundation.checks import at_least, listed_members, one_of
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.kinds import checks
from pellucid.core.foundation.wording import quoted
from pellucid.core.results.check_outcome import CheckLine
from pellucid.core.text.example import Example
from pellucid.evaluation.checking.agreement import TAU, taus, top_measure, tops
from pellucid.evaluation.checking.check_case import CheckCase
from pellucid.evaluation.checking.findings import Findings
from pellucid.evaluation.checking.scored_text import Explained, ScoredText
from pellucid.evaluation.checking.text_edits import EDITS, edit_named, edited


@checks.add(needs=frozenset({"explainer"}), cost="the methods on every text, once an edit", again="edits")
def edit_agreement(
    case: CheckCase, *, edits: Sequence[str] = ("case", "blanks", "synonyms"), k: int = 3
) -> Findings:
    """How similarly a method ranks the words of a text that is written otherwise: Kendall's tau, and the overlap of the k highest.

    edits: "case", the text in lower case or in capitals; "blanks", two for each; "synonyms", one content word replaced, where
    Debian's WordNet is installed. k: how many words are compared, 1 or more. Texts whose answer changes are left out.
    """
    at_least("k", k, 1)
    lines: list[CheckLine] = []
    notes: list[str] = []
    for name in _names(edits):
        edit = edit_named(name, case.request.seed)
        if edit is None:
            notes.append("Synonyms were left out: Debian's package wordnet-base is not installed.")
            continue
        texts = edited(case.examples, edit)
        changed = [one.segments != own.segments for one, own in zip(texts, case.examples, strict=True)]
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
        ones = [one for one, other, is_changed in pairs if is_changed and _is_same_answer(one, other)]
        others = [other for one, other, is_changed in pairs if is_changed and _is_same_answer(one, other)]
        lines += [
            case.intervals.line(method, TAU, taus(ones, others), edit),
            case.intervals.line(method, top_measure(k), tops(ones, others, k), edit),
        ]
    return lines


def _is_same_answer(one: ScoredText, other: ScoredText) -> bool:
    return one.predicted == other.predicted


def _left_out(case: CheckCase, again: Explained, texts: Sequence[Example], edit: str) -> list[str]:
    first = case.methods[0]
    pairs = list(zip(case.explained[first], again[first], strict=True))
    answers = sum(not _is_same_answer(one, other) for one, other in pairs)
    same = sum(one.segments == own.segments for one, own in zip(texts, case.examples, strict=True))
    counts = [f"{answers} are answered otherwise"] if answers else []
    counts += [f"{same} stay as they were"] if same else []
    return [f"Of {len(texts)} texts under the edit “{edit}”, {' and '.join(counts)}."] if counts else []
