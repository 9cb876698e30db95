"""Error analysis: how often the evidence shows each pattern where the model is wrong, and where it is right.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", Table 6, lists misclassified texts with their spans. A
list of errors alone does not say what causes them: a pattern matters where its share is higher than among right answers.
"""

import inspect
import math
from collections.abc import Callable, Sequence

from pellucid.core.foundation.errors import BadInput
from pellucid.core.results.error_analysis import ErrorAnalysis, PatternCount
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.heaviest_spans import NOT_COUNTED, HeaviestSpans
from pellucid.core.results.proportions import difference, share
from pellucid.evaluation.errors.error_patterns import NEED_CUES, PATTERNS, Evidence, evidence_of
from pellucid.evaluation.errors.learned_cues import LearnedCues

OTHER, OTHER_MEANING = "none_of_these", "The evidence shows none of the patterns."
Pattern = Callable[[Evidence], bool]
Shown = frozenset[str]


def grouped(
    explanations: Sequence[Explanation],
    cues: LearnedCues,
    caveats: tuple[str, ...] = (),
    heaviest: HeaviestSpans = NOT_COUNTED,
) -> ErrorAnalysis:
    """Count the patterns in explanations of labelled texts by one method.

    A text counts for every pattern that it shows, so shares may sum to more than 1. It is listed under the first of them
    in the order contrast_outside, negation_cut_off, cue_of_another_class, no_cue, the surest mistakes first. Raises `BadInput` for a text whose
    label is not a class of the model. cues: without any, patterns that need them are left out. caveats, heaviest: go into
    the result unchanged; heaviest counts what the spans of a self-explaining model are.
    """
    for explanation in explanations:
        _check_label(explanation)
    patterns_counted = [pattern for pattern in PATTERNS if cues.exist or pattern not in NEED_CUES]
    shown = [_patterns(evidence_of(one, cues.of(one.example)), patterns_counted) for one in explanations]
    is_right = [one.example.label == one.prediction.label for one in explanations]
    wrong = [patterns for patterns, right in zip(shown, is_right, strict=True) if not right]
    rest = [patterns for patterns, right in zip(shown, is_right, strict=True) if right]
    counts = tuple(
        _count(name, meaning, wrong, rest) for name, meaning in _meanings(patterns_counted).items()
    )
    texts: dict[str, list[Explanation]] = {count.name: [] for count in counts}
    for explanation, patterns, right in zip(explanations, shown, is_right, strict=True):
        if not right:
            texts[next(name for name in texts if name in patterns)].append(explanation)
    method = explanations[0].method if explanations else ""
    surest_first = {name: sorted(of_pattern, key=_doubt) for name, of_pattern in texts.items()}
    return ErrorAnalysis(
        len(wrong),
        len(rest),
        counts,
        surest_first,
        cues.by_class,
        (*cues.caveats, *caveats),
        heaviest,
        method,
    )


def _doubt(explanation: Explanation) -> float:
    """1 - the probability of the answer; the largest where the model gives no probabilities."""
    probability = explanation.prediction.probability
    return 1 - probability if probability == probability else math.inf


def _check_label(explanation: Explanation) -> None:
    example, labels = explanation.example, explanation.prediction.labels
    if example.label not in labels:
        raise BadInput(
            f"Example {example.id!r} has the label {example.label!r}, which is no class of the model; give texts labelled "
            f"with {', '.join(labels)}."
        )


def _meanings(patterns: Sequence[Pattern]) -> dict[str, str]:
    return {_name(pattern): inspect.getdoc(pattern) or "" for pattern in patterns} | {OTHER: OTHER_MEANING}


def _name(pattern: Pattern) -> str:
    return pattern.__name__


def _patterns(evidence: Evidence | None, patterns: Sequence[Pattern]) -> Shown:
    shown = frozenset(_name(pattern) for pattern in patterns if evidence is not None and pattern(evidence))
    return shown or frozenset({OTHER})


def _count(name: str, meaning: str, wrong: Sequence[Shown], right: Sequence[Shown]) -> PatternCount:
    among_wrong, among_right = (sum(name in patterns for patterns in part) for part in (wrong, right))
    share_wrong, share_right = share(among_wrong, len(wrong)), share(among_right, len(right))
    over = difference(share_wrong, share_right)
    return PatternCount(name, meaning, among_wrong, among_right, share_wrong, share_right, over)
