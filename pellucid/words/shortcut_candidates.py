"""What may decide answers by itself: words, short phrases, pairs and kinds of words; and texts without them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from random import Random
from typing import Literal

from pellucid.results.bootstrap import difference, share
from pellucid.results.interval import Interval
from pellucid.results.shortcuts import Association, Cause
from pellucid.text.example import Example
from pellucid.text.units import text_units

Place = tuple[int, int, int]  # segment, start, end
LONGEST = 3  # words of a phrase, before it grows by the words that nearly always stand beside it
GROWN = 12  # the most words that it grows to
BESIDE = 0.9  # share of a phrase's texts in which a word stands beside it, so that it belongs to the phrase
ENDS = frozenset(".!?:;…\"“”„»«'’‘()[]-–—*•")  # after these a capital letter may begin a sentence


@dataclass(frozen=True)
class WordText:
    """A text as words. words: in lower case; written: as in the text; places: where they stand."""

    example: Example
    written: tuple[str, ...]
    places: tuple[Place, ...]

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words in lower case."""
        return tuple(word.casefold() for word in self.written)

    @cached_property
    def terms(self) -> frozenset[tuple[str, ...]]:
        """Its words and phrases of up to three words, each as a tuple of words."""
        return frozenset(
            self.phrase(first, length) for length in range(1, LONGEST + 1) for first in self.firsts(length)
        )

    def firsts(self, length: int) -> Iterable[int]:
        """Where phrases of this length may begin: all their words are in one segment."""
        last = len(self.words) - length + 1
        return (n for n in range(last) if self.places[n][0] == self.places[n + length - 1][0])

    def phrase(self, first: int, length: int) -> tuple[str, ...]:
        """So many words from the first one on."""
        return self.words[first : first + length]

    def occurrences(self, words: tuple[str, ...]) -> list[int]:
        """Where a word or phrase begins."""
        if words[0] not in self.words:
            return []
        return [first for first in self.firsts(len(words)) if self.phrase(first, len(words)) == words]

    def without(self, indices: Collection[int]) -> Example | None:
        """The text without these words and the blank before each; None where a segment would be empty."""
        segments = []
        for index, text in enumerate(self.example.segments):
            cut = [self.places[n][1:] for n in sorted(indices) if self.places[n][0] == index]
            segments.append(_without(text, cut))
        return Example(tuple(segments), id=self.example.id) if all(map(str.strip, segments)) else None


def word_text(example: Example) -> WordText:
    """The words of an example, punctuation marks among them."""
    places = [
        (index, start, end) for index, text in enumerate(example.segments) for start, end in text_units(text, "word")
    ]
    return WordText(example, tuple(example.segments[n][start:end] for n, start, end in places), tuple(places))


def _without(text: str, cut: Sequence[Sequence[int]]) -> str:
    """The text without these ranges; where a blank stands on both sides of one, one of them goes too."""
    parts, before = [], 0
    for start, end in cut:
        part = text[before:start]
        ends_or_blank = end == len(text) or text[end].isspace()
        parts.append(part[:-1] if part[-1:].isspace() and ends_or_blank else part)
        before = end
    whole = "".join([*parts, text[before:]])
    return whole.lstrip() if cut and not text[:1].isspace() else whole


# Kinds of words, each as a rule over the words of a text.


def numbers(text: WordText) -> list[int]:
    """Words with a digit."""
    return [n for n, word in enumerate(text.written) if any(map(str.isdigit, word))]


def punctuation(text: WordText) -> list[int]:
    """Marks: words without letters or digits."""
    return [n for n, word in enumerate(text.written) if not any(map(str.isalnum, word))]


def names(text: WordText) -> list[int]:
    """Words that begin with a capital letter inside a sentence; none in a text without small letters."""
    if not any(map(str.islower, text.written)):
        return []
    return [n for n, word in enumerate(text.written) if word[0].isupper() and word != "I" and not _begins(text, n)]


def _begins(text: WordText, index: int) -> bool:
    """Whether a word begins a text, or stands after a mark that may end a sentence."""
    return index == 0 or text.places[index - 1][0] != text.places[index][0] or text.written[index - 1] in ENDS


KINDS: dict[str, Callable[[WordText], list[int]]] = {
    "numbers": numbers,
    "punctuation marks": punctuation,
    "names (capital letters inside sentences)": names,
}


# Candidates: which words, phrases, pairs and kinds go with a class.


@dataclass(frozen=True)
class Candidate:
    """What may decide. cause: what it is. words: the word, the words of a phrase, both of a pair, or a kind's name."""

    cause: Cause
    words: tuple[str, ...]

    def indices(self, text: WordText) -> tuple[int, ...]:
        """The words of the text that are taken out; none where the text does not hold it."""
        if self.cause == "kind":
            return tuple(KINDS[self.words[0]](text))
        if self.cause == "pair":
            of_each = [text.occurrences((word,)) for word in self.words]
            return tuple(sorted({n for of_word in of_each for n in of_word})) if all(of_each) else ()
        length = len(self.words)
        return tuple(sorted({n for first in text.occurrences(self.words) for n in range(first, first + length)}))


def of_kinds() -> list[Candidate]:
    """A candidate for each kind of words."""
    return [Candidate("kind", (name,)) for name in KINDS]


def leading(texts: Sequence[WordText], is_class: Sequence[bool], least: float, most: int) -> list[Candidate]:
    """The words and phrases that go most with a class, then pairs of these words; by the difference of two shares.

    is_class: whether the model gives the class to each text. least: share of the class's texts that must hold a
    candidate; those of fewer cannot decide more. most: of words, of phrases and of pairs.
    """
    of_class = [text for text, is_of_class in zip(texts, is_class, strict=True) if is_of_class]
    rest = [text for text, is_of_class in zip(texts, is_class, strict=True) if not is_of_class]
    here, there = (Counter(term for text in part for term in text.terms) for part in (of_class, rest))
    leads = {
        term: count / len(of_class) - there[term] / max(1, len(rest))
        for term, count in here.items()
        if count >= least * len(of_class)
    }
    ordered = sorted((term for term in leads if leads[term] > 0), key=lambda term: (-leads[term], len(term), term))
    words = [term for term in ordered if len(term) == 1][:most]
    phrases = dict.fromkeys(trimmed(grown(term, of_class)) for term in ordered if len(term) > 1)
    pairs = _pairs([term[0] for term in words], of_class, rest, least)[:most]
    return [
        *(Candidate("word", term) for term in words),
        *(Candidate("phrase", term) for term in [term for term in phrases if len(term) > 1][:most]),
        *(Candidate("pair", pair) for pair in pairs),
    ]


def _pairs(
    words: Sequence[str], of_class: Sequence[WordText], rest: Sequence[WordText], least: float
) -> list[tuple[str, str]]:
    """Pairs of these words that stand together in enough texts of the class, those that go most with it first."""
    leads: dict[tuple[str, str], float] = {}
    for pair in combinations(words, 2):
        here, there = (sum(set(pair) <= set(text.words) for text in part) for part in (of_class, rest))
        if here >= least * len(of_class):
            leads[pair] = here / len(of_class) - there / max(1, len(rest))
    return sorted((pair for pair in leads if leads[pair] > 0), key=lambda pair: (-leads[pair], pair))


def grown(term: tuple[str, ...], texts: Sequence[WordText]) -> tuple[str, ...]:
    """The phrase with the words that stand beside it in nine of ten of its texts: "my phone", "from my phone"."""
    holding = [(text, text.occurrences(term)[0]) for text in texts if text.occurrences(term)]
    while len(term) < GROWN and holding:
        beside = Counter(key for text, first in holding for key in _neighbours(text, first, len(term)))
        if not beside or max(beside.values()) < BESIDE * len(holding):
            break
        side, word = max(beside, key=lambda key: (beside[key], key))
        term = (word, *term) if side < 0 else (*term, word)
        holding = [(text, text.occurrences(term)[0]) for text, _ in holding if text.occurrences(term)]
    return term


def _neighbours(text: WordText, first: int, length: int) -> Iterator[tuple[int, str]]:
    """The words before (-1) and after (1) a phrase, in its segment."""
    for side, index in ((-1, first - 1), (1, first + length)):
        if 0 <= index < len(text.words) and text.places[index][0] == text.places[first][0]:
            yield side, text.words[index]


def trimmed(term: tuple[str, ...]) -> tuple[str, ...]:
    """The phrase without marks at its ends."""
    is_word = [any(map(str.isalnum, word)) for word in term]
    if not any(is_word):
        return term
    return term[is_word.index(True) : len(term) - is_word[::-1].index(True)]


# What a candidate is compared with: as many other words of the same text, of like frequency.

NEAREST = 3  # for each word taken out, so many of like frequency are drawn from


def like_frequency(text: WordText, indices: Sequence[int], frequencies: Counter[str], draw: Random) -> tuple[int, ...]:
    """As many other words of the text as `indices`, or as there are, drawn from those of the nearest frequency.

    frequencies: word -> texts that hold it.
    """
    rest = [n for n in range(len(text.words)) if n not in set(indices)]
    aim = sorted(frequencies[text.words[n]] for n in indices)[len(indices) // 2]
    nearest = sorted(rest, key=lambda n: (_apart(frequencies[text.words[n]], aim), n))
    pool = nearest[: max(NEAREST, 2) * len(indices)]
    return tuple(draw.sample(pool, min(len(indices), max(len(rest) - 1, 0), len(pool))))


def _apart(count: int, aim: int) -> float:
    """How many times as frequent one of two words is."""
    return max(count, aim) / max(1, min(count, aim))


def merged(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Each candidate once; a pair whose words are neighbours in a phrase that is there too is left out."""
    every = list(dict.fromkeys(candidates))
    phrases = [candidate.words for candidate in every if candidate.cause == "phrase"]
    return [
        candidate
        for candidate in every
        if candidate.cause != "pair" or not any(set(candidate.words) <= set(phrase) for phrase in phrases)
    ]


def as_words(texts: Sequence[Example]) -> list[WordText]:
    """The texts as words, each different text once."""
    seen: dict[tuple[str, ...], WordText] = {}
    for example in texts:
        seen.setdefault(example.segments, word_text(replace(example, rationales=())))
    return list(seen.values())


# What cannot be taken out of a text, but may go with its answer: its source and its length.

FEW = 20  # texts of a source
ASSOCIATED = 0.25  # difference of two shares that is told, by the near end of its interval


def associations(
    texts: Sequence[Example], answers: Sequence[Collection[str]], classes: Sequence[str]
) -> list[Association]:
    """For each class the group of texts, by source and by length, whose answers go most with it, where that is much.

    Where all texts have labels, it must be more than the labels go with the group.
    """
    groups: dict[Literal["source", "length"], dict[str, list[bool]]]
    groups = {"source": sources(texts), "length": quarters(texts)}
    labels = [example.label for example in texts]
    every = [
        _association(cause, group, members, name, [name in answer for answer in answers], labels)
        for cause, of_cause in groups.items()
        for group, members in of_cause.items()
        for name in classes
    ]
    much = [pair for pair in every if pair[1].low > ASSOCIATED and not pair[1].low <= pair[0].labels]
    best = {pair[0].cause: pair[0] for pair in sorted(much, key=lambda pair: pair[1].mean)}
    return list(best.values())


def sources(texts: Sequence[Example]) -> dict[str, list[bool]]:
    """Source, as texts carry it in `meta["source"]`, -> which texts are of it."""
    named = [str(example.meta.get("source", "")) for example in texts]
    counts = Counter(filter(None, named))
    usual = [name for name, count in counts.items() if FEW <= count <= len(texts) - FEW]
    return {f"texts from {name}": [source == name for source in named] for name in sorted(usual)}


def quarters(texts: Sequence[Example]) -> dict[str, list[bool]]:
    """The shortest and the longest quarter of the texts, by words."""
    lengths = [sum(len(text_units(text, "word")) for text in example.segments) for example in texts]
    ordered = sorted(lengths)
    low, high = ordered[len(ordered) // 4], ordered[-(len(ordered) // 4) - 1]
    if len(texts) < 4 * FEW or low == high:
        return {}
    return {
        f"the texts of up to {low} words": [length <= low for length in lengths],
        f"the texts of {high} words or more": [length >= high for length in lengths],
    }


def _association(
    cause: Literal["source", "length"],
    group: str,
    members: Sequence[bool],
    label: str,
    is_class: Sequence[bool],
    labels: Sequence[str | None],
) -> tuple[Association, Interval]:
    """What a group and a class have to do with each other, and the difference of the two shares."""
    of_labels = [name == label for name in labels] if None not in labels else None
    shares = [_share(is_class, members, side) for side in (True, False)]
    known = float("nan")
    if of_labels is not None:
        known = _share(of_labels, members, True).mean - _share(of_labels, members, False).mean
    return Association(cause, group, label, shares[0], shares[1], known), difference(shares[0], shares[1])


def _share(counted: Sequence[bool], members: Sequence[bool], side: bool) -> Interval:
    """The share of the texts on one side of a group that are counted."""
    there = [count for count, member in zip(counted, members, strict=True) if member is side]
    return share(sum(there), len(there))
