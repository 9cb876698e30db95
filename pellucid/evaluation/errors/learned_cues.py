"""Cue words for each text to be judged, learned from other texts than itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pellucid.core.foundation.errors import BadInput
from pellucid.core.results.error_analysis import CueWord
from pellucid.core.text.example import Example
from pellucid.core.text.trained_texts import text_digest
from pellucid.evaluation.errors.cue_words import cue_words, same_texts

WordsByClass = Mapping[str, frozenset[str]]
HALVES = (
    "No train texts were named, so the cue words of each text were learned from the other half of the texts. Cue words of "
    "many train texts are surer; name such texts as train (on the command line --train)."
)
TOO_FEW = (
    "There are too few texts to learn cue words from (each half of them needs two classes), so patterns that need cue words "
    "were not counted."
)


@dataclass(frozen=True)
class LearnedCues:
    """by_class: class -> its cue words, as a reader sees them. of: the words by class that a text is judged with.

    caveats: what to keep in mind about where they come from.
    """

    by_class: Mapping[str, Sequence[CueWord]]
    of: Callable[[Example], WordsByClass]
    caveats: tuple[str, ...] = ()

    @property
    def exist(self) -> bool:
        """Whether any class has a cue word; without one, patterns of cue words say nothing."""
        return any(self.by_class.values())


def cues_from(train: Sequence[Example] | None, examples: Sequence[Example], min_count: int) -> LearnedCues:
    """Cue words of the train texts for all examples; without train texts, of one half of the examples for the other half.

    A text's half follows from its digest, so equal texts are in the same half.
    """
    if train is not None:
        return cues_of(cue_words(train, min_count), same_texts(train, examples))
    halves = [[one for one in examples if _half(one) == half] for half in (0, 1)]
    try:
        other_half = [_words(cue_words(halves[1 - half], min_count)) for half in (0, 1)]
    except BadInput:  # a half with fewer than two classes
        return LearnedCues({}, lambda example: {}, (TOO_FEW,))
    return LearnedCues(cue_words(examples, min_count), lambda example: other_half[_half(example)], (HALVES,))


def cues_of(by_class: Mapping[str, Sequence[CueWord]], caveats: tuple[str, ...] = ()) -> LearnedCues:
    """The same cue words for every text."""
    words = _words(by_class)
    return LearnedCues(by_class, lambda example: words, caveats)


def _words(by_class: Mapping[str, Sequence[CueWord]]) -> WordsByClass:
    return {label: frozenset(cue.word for cue in cues) for label, cues in by_class.items()}


def _half(example: Example) -> int:
    return int(text_digest(example), 16) % 2
