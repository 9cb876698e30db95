"""Patterns that the evidence of a text may show: each is a rule over the evidence, the text around it and cue words.

The evidence is the heaviest span of a self-explaining model, or the words that an attribution method scores highest.

After the kinds of errors in Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", Table 6, which gives
examples of them. Here each is a rule, so that it can be counted. The words are English.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from pellucid.core.results.evidence import evidence_parts
from pellucid.core.results.explanation import Explanation, Scored
from pellucid.core.text.units import text_units
from pellucid.evaluation.errors.cue_words import words_of

CONTRASTS = frozenset(
    "but although though however yet while whereas despite nevertheless nonetheless notwithstanding".split()
)
NEGATIONS = frozenset(
    "not no never none nothing nobody nowhere neither nor cannot without hardly barely scarcely rarely seldom".split()
)
NEAR = 2  # a negation belongs to a word if it is among so many words before it: "not a good"


@dataclass(frozen=True)
class Evidence:
    """words: the words, in lower case, of the text that contains the evidence. indices: which of them are evidence.

    own, foreign: the cue words of the text's label, and of all other classes.
    """

    words: tuple[str, ...]
    indices: tuple[int, ...]
    own: Collection[str]
    foreign: Collection[str]

    @property
    def inside(self) -> tuple[str, ...]:
        """The words of the evidence."""
        return tuple(self.words[index] for index in self.indices)

    @property
    def outside(self) -> tuple[str, ...]:
        """The text's other words."""
        return tuple(word for index, word in enumerate(self.words) if index not in self.indices)


def evidence_of(explanation: Explanation, cues: Mapping[str, Collection[str]]) -> Evidence | None:
    """The evidence of a labelled text; cues: class -> words. None where no part has a positive score for the answer.

    Of a pair, the text that contains the strongest part counts.
    """
    label, parts = explanation.example.label, evidence_parts(explanation)
    if not parts:
        return None
    text = explanation.example.segments[parts[0].segment]
    indices = {
        index for part in parts if part.segment == parts[0].segment for index in _words_under(text, part)
    }
    own = cues.get(label or "", ())
    foreign = {word for other, words in cues.items() if other != label for word in words}
    return Evidence(tuple(words_of(text)), tuple(sorted(indices)), own, foreign)


def _words_under(text: str, part: Scored) -> list[int]:
    """The words that a part overlaps; a span of pieces may begin inside a word."""
    words = enumerate(text_units(text, "word"))
    return [index for index, (start, end) in words if start < part.end and end > part.start]


def contrast_outside(evidence: Evidence) -> bool:
    """A contrast word stands in the text, outside the evidence."""
    return any(word in CONTRASTS for word in evidence.outside)


def negation_cut_off(evidence: Evidence) -> bool:
    """One of the two words before a word of the evidence negates, and is not part of the evidence."""
    before = {index - distance for index in evidence.indices for distance in range(1, NEAR + 1)}
    words = (evidence.words[index] for index in before.difference(evidence.indices) if index >= 0)
    return any(word in NEGATIONS or word.endswith("n't") for word in words)


def cue_of_another_class(evidence: Evidence) -> bool:
    """The evidence holds a cue word of a class other than the label, and none of the label's."""
    return any(word in evidence.foreign for word in evidence.inside) and not any(
        word in evidence.own for word in evidence.inside
    )


def no_cue(evidence: Evidence) -> bool:
    """The evidence holds no cue word of any class."""
    return not any(word in evidence.foreign or word in evidence.own for word in evidence.inside)


NEED_CUES = frozenset({cue_of_another_class, no_cue})
PATTERNS: tuple[Callable[[Evidence], bool], ...] = (
    contrast_outside,
    negation_cut_off,
    cue_of_another_class,
    no_cue,
)
