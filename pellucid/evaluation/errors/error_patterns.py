"""Patterns that the heaviest span of a text may show: each is a rule over the span, the text around it and cue words.

After the kinds of errors in Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", Table 6, which gives
examples of them. Here each is a rule, so that it can be counted. The words are English.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from pellucid.core.results.explanation import Explanation, Scored
from pellucid.core.text.units import text_units
from pellucid.evaluation.errors.cue_words import words_of

CONTRASTS = frozenset(
    "but although though however yet while whereas despite nevertheless nonetheless notwithstanding".split()
)
NEGATIONS = frozenset(
    "not no never none nothing nobody nowhere neither nor cannot without hardly barely scarcely rarely seldom".split()
)
NEAR = 2  # a negation belongs to a span if it is among so many words before it: "not a good"


@dataclass(frozen=True)
class Evidence:
    """words: the words, in lower case, of the text that contains the heaviest span. first, last: the span's first and last.

    own, foreign: the cue words of the text's label, and of all other classes.
    """

    words: tuple[str, ...]
    first: int
    last: int
    own: Collection[str]
    foreign: Collection[str]

    @property
    def inside(self) -> tuple[str, ...]:
        """The span's words."""
        return self.words[self.first : self.last + 1]

    @property
    def outside(self) -> tuple[str, ...]:
        """The text's other words."""
        return self.words[: self.first] + self.words[self.last + 1 :]


def evidence_of(explanation: Explanation, cues: Mapping[str, Collection[str]]) -> Evidence | None:
    """The heaviest span of a labelled text; cues: class -> words. None where the text has no span."""
    label, spans = explanation.example.label, explanation.spans(1)
    if not spans:
        return None
    first, last = _words_under(explanation, spans[0])
    own = cues.get(label or "", ())
    foreign = {word for other, words in cues.items() if other != label for word in words}
    return Evidence(
        tuple(words_of(explanation.example.segments[spans[0].segment])), first, last, own, foreign
    )


def _words_under(explanation: Explanation, span: Scored) -> tuple[int, int]:
    """The first and the last word that a span overlaps; a span of pieces may begin inside a word."""
    words = text_units(explanation.example.segments[span.segment], "word")
    inside = [number for number, (start, end) in enumerate(words) if start < span.end and end > span.start]
    return (inside[0], inside[-1]) if inside else (0, -1)


def contrast_outside(evidence: Evidence) -> bool:
    """A contrast word stands in the text, outside the span."""
    return any(word in CONTRASTS for word in evidence.outside)


def negation_cut_off(evidence: Evidence) -> bool:
    """One of the two words before the span negates, and the span begins after it."""
    before = evidence.words[max(0, evidence.first - NEAR) : evidence.first]
    return any(word in NEGATIONS or word.endswith("n't") for word in before)


def cue_of_another_class(evidence: Evidence) -> bool:
    """The span holds a cue word of a class other than the label, and none of the label's."""
    return any(word in evidence.foreign for word in evidence.inside) and not any(
        word in evidence.own for word in evidence.inside
    )


def no_cue(evidence: Evidence) -> bool:
    """The span holds no cue word of any class."""
    return not any(word in evidence.foreign or word in evidence.own for word in evidence.inside)


PATTERNS: tuple[Callable[[Evidence], bool], ...] = (
    contrast_outside,
    negation_cut_off,
    cue_of_another_class,
    no_cue,
)
