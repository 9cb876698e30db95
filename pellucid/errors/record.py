"""Patterns in the evidence of misclassified texts, and the cue words of each class, learned from other texts."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from pellucid.base.checks import at_least
from pellucid.base.errors import BadInput
from pellucid.base.json_text import nan_as_none
from pellucid.base.kinds import renderers
from pellucid.results.explanation import Explanation
from pellucid.results.heaviest_spans import NOT_COUNTED, HeaviestSpans, evidence_parts
from pellucid.results.results import answers_for
from pellucid.results.shortcuts import NOTHING, Shortcuts
from pellucid.results.table import Interval
from pellucid.text.example import Example, text_digest
from pellucid.text.units import Spans, text_units


@dataclass(frozen=True)
class CueWord:
    """A word that is more common in one class's train texts than in the others'.

    texts: how many of the class's train texts have it. log_odds: its log odds ratio against all other classes. z: the
    log odds ratio divided by its standard deviation.
    """

    word: str
    texts: int
    log_odds: float
    z: float


@dataclass(frozen=True)
class PatternCount:
    """How often a pattern occurs among wrong and right answers.

    share_wrong, share_right: shares with 95 % intervals (nan bounds: no text). over: share_wrong - share_right.
    """

    name: str
    meaning: str
    among_wrong: int
    among_right: int
    share_wrong: Interval
    share_right: Interval
    over: Interval


@dataclass(frozen=True, eq=False)
class ErrorAnalysis:
    """Patterns of evidence among wrong and right answers; a text counts for every pattern that it shows.

    wrong, right: how many texts. texts: pattern -> the explained misclassified texts, each under the first pattern that
    it shows, in the order of `patterns`; the surest mistakes first. Of a run over a corpus they are read when needed.
    cues: class -> its cue words, the surest first.
    caveats: sentences. heaviest: counts of the heaviest spans over all texts; all 0 where they were not counted.
    method: whose scores are the evidence. shortcuts: what decides by itself, as far as it was looked for.
    """

    wrong: int
    right: int
    patterns: tuple[PatternCount, ...]
    texts: Mapping[str, Sequence[Explanation]]
    cues: Mapping[str, Sequence[CueWord]]
    caveats: tuple[str, ...] = ()
    heaviest: HeaviestSpans = NOT_COUNTED
    method: str = "span_attention"
    shortcuts: Shortcuts = NOTHING

    @property
    def by_span(self) -> bool:
        """Whether the evidence of a text is a span, and not the words with the highest scores."""
        firsts = (texts[0] for texts in self.texts.values() if len(texts))
        return bool(self.heaviest.texts) or any(isinstance(explanation.units, Spans) for explanation in firsts)

    def _repr_html_(self) -> str:
        """How a notebook draws it."""
        return renderers.get("notebook_error_analysis").make(self)

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_error_analysis").make(self)

    def record(self) -> dict[str, object]:
        """Plain values for JSON, None where there is no number; a text as its id, segments, labels and evidence."""
        return {
            "method": self.method,
            "wrong": self.wrong,
            "right": self.right,
            "patterns": [nan_as_none(asdict(pattern)) for pattern in self.patterns],
            "texts": {name: answers_for(of_pattern, _text) for name, of_pattern in self.texts.items()},
            "cues": {label: [asdict(cue) for cue in cues] for label, cues in self.cues.items()},
            "caveats": list(self.caveats),
            "heaviest_spans": self.heaviest.record(),
            "shortcuts": self.shortcuts.record() if self.shortcuts.n_texts else None,
        }


def _text(explanation: Explanation) -> dict[str, object]:
    return {
        "id": explanation.example.id,
        "segments": list(explanation.example.segments),
        "label": explanation.example.label,
        "predicted": explanation.prediction.label,
        "spans": [part.text for part in evidence_parts(explanation)],
    }


# Cue words for each text to be judged, learned from other texts than itself.

WordsByClass = Mapping[str, frozenset[str]]
HALVES = (
    "No train texts were named, so the cue words of each text were learned from the other half of the texts. Cue words "
    "of many train texts are surer; name such texts as train (on the command line --train)."
)
TOO_FEW = (
    "There are too few texts to learn cue words from (each half of them needs two classes), so patterns that need cue "
    "words were not counted."
)


@dataclass(frozen=True)
class LearnedCues:
    """by_class: class -> its cue words, as a reader sees them. of_example: the words by class that a text is judged
    with.

    caveats: what to keep in mind about where they come from.
    """

    by_class: Mapping[str, Sequence[CueWord]]
    of_example: Callable[[Example], WordsByClass]
    caveats: tuple[str, ...] = ()

    @property
    def exist(self) -> bool:
        """Whether any class has a cue word; without one, patterns of cue words say nothing."""
        return any(self.by_class.values())


def cues_from(train: Iterable[Example] | None, examples: Iterable[Example], min_count: int) -> LearnedCues:
    """Cue words of the train texts for all examples; without train texts, of one half of the examples for the other
    half.

    A text's half follows from its digest, so equal texts are in the same half.
    """
    if train is not None:
        return cues_of(cue_words(train, min_count), same_texts(train, examples))
    halves: tuple[WordCounts, WordCounts] = {}, {}
    for example in examples:
        _count(example, halves[_half(example)])
    try:
        other_half = [_words(_cues_of_counts(halves[1 - half], min_count)) for half in (0, 1)]
    except BadInput:  # a half with fewer than two classes
        return LearnedCues({}, lambda example: {}, (TOO_FEW,))
    both = {label: sum((half.get(label, Counter()) for half in halves), Counter[str]()) for label in halves[0]}
    return LearnedCues(_cues_of_counts(both, min_count), lambda example: other_half[_half(example)], (HALVES,))


def cues_of(by_class: Mapping[str, Sequence[CueWord]], caveats: tuple[str, ...] = ()) -> LearnedCues:
    """The same cue words for every text."""
    words = _words(by_class)
    return LearnedCues(by_class, lambda example: words, caveats)


def _words(by_class: Mapping[str, Sequence[CueWord]]) -> WordsByClass:
    return {label: frozenset(cue.word for cue in cues) for label, cues in by_class.items()}


def _half(example: Example) -> int:
    return int(text_digest(example), 16) % 2


# Cue words: the words that distinguish one class's train texts from all others', counted in these texts alone.
#
# Monroe, Colaresi & Quinn (2008), "Fightin' Words", equations 15, 16, 22: log odds ratios with an informative
# Dirichlet prior. A word counts once a text, so that a single long text cannot make it a cue.

CLEAR = 1.96  # z of the 5 % level, two-sided


def words_of(text: str) -> list[str]:
    """A text's words in lower case, with one kind of apostrophe."""
    return [text[start:end].lower().replace("’", "'") for start, end in text_units(text, "word")]


WordCounts = dict[str, Counter[str]]  # label -> word -> in how many texts


def cue_words(examples: Iterable[Example], min_count: int = 5) -> dict[str, tuple[CueWord, ...]]:
    """For each label its cue words, highest z first: z of at least 1.96, in at least `min_count` of the label's texts.

    A word's prior count is its share of all counts times the number of different words. Raises `BadInput` where fewer
    than two labels occur.
    """
    counts: WordCounts = {}
    for example in examples:
        _count(example, counts)
    return _cues_of_counts(counts, min_count)


def _count(example: Example, counts: WordCounts) -> None:
    if example.label is not None:
        seen = {word for text in example.segments for word in words_of(text) if word[0].isalpha()}
        counts.setdefault(example.label, Counter()).update(seen)


def _cues_of_counts(counts: WordCounts, min_count: int) -> dict[str, tuple[CueWord, ...]]:
    at_least("min_count", min_count, 1)
    if len(counts) < 2:
        raise BadInput(
            f"Cue words are learnt by comparing classes, and the train texts have {len(counts)} of them; give labelled "
            "texts of two classes or more."
        )
    every = sum(counts.values(), Counter[str]())
    return {label: _cues(counts[label], every, min_count) for label in sorted(counts)}


def same_texts(train: Iterable[Example], examples: Iterable[Example]) -> tuple[str, ...]:
    """One sentence where cue words were counted in texts whose errors are analysed; empty otherwise."""
    learnt_from = set(map(text_digest, train))
    seen = [text_digest(example) in learnt_from for example in examples]
    if not any(seen):
        return ()
    return (
        f"Cue words were learnt from {sum(seen):,} of the {len(seen):,} texts themselves, so they fit them too well; "
        f"give train texts of their own.",
    )


def _cues(of_class: Counter[str], every: Counter[str], min_count: int) -> tuple[CueWord, ...]:
    candidates = (_cue(word, of_class, every) for word, count in of_class.items() if count >= min_count)
    clear = (cue for cue in candidates if cue.z >= CLEAR)
    return tuple(sorted(clear, key=lambda cue: (-cue.z, cue.word)))


def _cue(word: str, of_class: Counter[str], every: Counter[str]) -> CueWord:
    total, own_total = every.total(), of_class.total()
    strength = len(every)
    prior = strength * every[word] / total
    here, there = of_class[word] + prior, every[word] - of_class[word] + prior
    log_odds = math.log(here / (own_total + strength - here))
    log_odds -= math.log(there / (total - own_total + strength - there))
    return CueWord(word, of_class[word], log_odds, log_odds / math.sqrt(1 / here + 1 / there))
