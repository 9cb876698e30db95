"""How much of a text's words a model can read, and what people should know of it.

A model answers also where it read nothing: from [UNK] in the place of a Thai sentence, say. So each word is counted as
read, read in part, read only as bytes, or not read.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import regex

from pellucid.base.checks import percent, shortened
from pellucid.text.example import Example
from pellucid.text.passages import turns_of
from pellucid.text.units import SPECIAL, Units, coarsen, text_units

CANNOT, IN_PART = "The model cannot read ", "The model reads only a part of "
NOTHING_READ = f"{CANNOT}a single word of this text: neither its answer nor any score comes from what the text says."
MOST_NAMED, LONGEST = 5, 20  # words that a sentence names, and the characters of one
MOST_TEXTS = 3
SOME_IN_PART = f"{IN_PART}some words."
SOME_AS_BYTES = "The model reads some words, or parts of them, only as bytes."

_WORD = regex.compile(r"[\p{L}\p{N}\p{S}]")  # a word is more than punctuation


@dataclass(frozen=True)
class ReadWords:
    """How many of a text's words a model can read.

    n_words: those that are more than punctuation, and whatever else it cannot read. unread, in_part, as_bytes: the
    words of which it can read nothing, a part, or all but a part only as bytes; in reading order.
    """

    n_words: int
    unread: tuple[str, ...] = ()
    in_part: tuple[str, ...] = ()
    as_bytes: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """The share of the words that the model cannot read, 0 to 1."""
        return len(self.unread) / self.n_words if self.n_words else 0.0

    @property
    def diagnostics(self) -> dict[str, float]:
        """The counts as diagnostics of explanations; those that are 0 are left out."""
        facts = {"unread_words": self.share, "words_as_bytes": float(len(self.as_bytes))}
        return {name: value for name, value in facts.items() if value}

    def cautions(self) -> tuple[str, ...]:
        """What a reader must know of it, in a sentence or two; none where the model reads every word."""
        if self.share == 1:
            return (NOTHING_READ,)
        counts = ((CANNOT, self.unread), (IN_PART, self.in_part))
        return tuple(
            f"{start}{len(words):,} of {self.n_words:,} words: {_named(words)}." for start, words in counts if words
        )


def is_about_reading(caution: str) -> bool:
    """Whether a caution is one of these, which hold of the text whatever the method."""
    return caution.startswith((CANNOT, IN_PART))


def read_words(pieces: Units, example: Example) -> ReadWords:
    """The words of a text by what its model can read of each; pieces: the model's.

    Words that no piece stands for, since the tokenizer drops their characters, are not read either. What a chat's
    template has written is no word of the text.
    """
    dropped, segments = _dropped(pieces, example), example.segments
    if not pieces.readings:
        words = [text[start:end] for text in segments for start, end in text_units(text, "word")]
        return ReadWords(sum(map(_is_word, words)), dropped)
    units, _ = coarsen(pieces, "word", segments)
    by_reading: dict[str, list[str]] = {"none": [], "part": [], "bytes": [], "whole": []}
    for word in units.content:
        by_reading[units.readings[word]].append(units.labels[word])
    unread, in_part, as_bytes = (tuple(by_reading[name]) for name in ("none", "part", "bytes"))
    n_read = sum(_is_word(word) for name in ("part", "bytes", "whole") for word in by_reading[name])
    return ReadWords(n_read + len(unread) + len(dropped), unread + dropped, in_part, as_bytes)


def unread_in(pieces: Units, segments: Sequence[str]) -> tuple[tuple[int, int, int], ...]:
    """(segment, start, end) of each word of which the model can read nothing, as far as its pieces say."""
    if "none" not in pieces.readings:
        return ()
    words, _ = coarsen(pieces, "word", segments)
    unread = [word for word in words.content if words.readings[word] == "none"]
    return tuple((words.segment[word], words.start[word], words.end[word]) for word in unread)


def _is_word(word: str) -> bool:
    return _WORD.search(word) is not None


def _dropped(pieces: Units, example: Example) -> tuple[str, ...]:
    """The words that no piece covers a character of."""
    words: list[str] = []
    for index, text in enumerate(example.segments):
        covered = [0] * (len(text) + 1)  # how many pieces begin at a character, less those that end there
        for segment, start, end in zip(pieces.segment, pieces.start, pieces.end, strict=True):
            if segment == index:
                covered[min(start, len(text))] += 1  # a prompt's last piece may be the blank after it
                covered[min(end, len(text))] -= 1
        depth = list(accumulate(covered))
        dropped = [(start, end) for start, end in text_units(text, "word") if not any(depth[start:end])]
        no_words = _spelt(pieces, text) if dropped else []
        inside = [(turn.start, turn.end) for turn in turns_of(example)] if index == 0 else []
        words += [
            text[start:end]
            for start, end in dropped
            if _is_word(text[start:end])
            and (not inside or any(start < last and end > first for first, last in inside))
            and not any(start < last and end > first for first, last in no_words)
        ]
    return tuple(words)


def _spelt(pieces: Units, text: str) -> list[tuple[int, int]]:
    """The characters that spell a special token of the row, such as a mask: the model reads that, and no word."""
    tokens = {label for label, segment in zip(pieces.labels, pieces.segment, strict=True) if segment == SPECIAL}
    return [
        (start, start + len(token)) for token in tokens for start in range(len(text)) if text.startswith(token, start)
    ]


def _named(words: Sequence[str]) -> str:
    different = list(dict.fromkeys(f"“{shortened(word, LONGEST)}”" for word in words))
    more = len(different) - MOST_NAMED
    return ", ".join(different[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")


@dataclass(frozen=True)
class UnreadTexts:
    """Of many texts those with words that the model cannot read.

    n_texts: how many there are in all. worst: (id, share of the words) of each text with such words, the largest first.
    """

    n_texts: int
    worst: tuple[tuple[str, float], ...] = ()

    @property
    def n_wholly(self) -> int:
        """Texts of which the model can read no word."""
        return sum(share == 1 for _, share in self.worst)

    @property
    def in_words(self) -> str:
        """How many texts they are; empty where the model reads all words."""
        if not self.worst:
            return ""
        share = percent(len(self.worst) / self.n_texts)
        wholly = f", and no word of {self.n_wholly:,}" if self.n_wholly else ""
        return f"{CANNOT}some words of {len(self.worst):,} of {self.n_texts:,} texts ({share}){wholly}."

    @property
    def with_worst(self) -> str:
        """The same, and the worst texts by name."""
        named = ", ".join(f"{id_ or 'a text'} ({percent(part)})" for id_, part in self.worst[:MOST_TEXTS])
        return f"{self.in_words.removesuffix('.')}; worst: {named}." if named else ""


def unread_texts(shares: Iterable[tuple[str, float]]) -> UnreadTexts:
    """Those of many texts, each with its id and the share of its words that the model cannot read."""
    every = list(shares)
    worst = sorted((pair for pair in every if pair[1]), key=lambda pair: -pair[1])
    return UnreadTexts(len(every), tuple(worst))
