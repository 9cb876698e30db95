"""One line of each of WordNet's files, as the pages wndb(5WN) and cntlist(5WN) describe them."""

from dataclasses import dataclass
from typing import Literal

PartOfSpeech = Literal["noun", "verb", "adjective", "adverb"]
PARTS_OF_SPEECH: tuple[PartOfSpeech, ...] = ("noun", "verb", "adjective", "adverb")
LETTERS: dict[str, PartOfSpeech] = {
    "n": "noun",
    "v": "verb",
    "a": "adjective",
    "s": "adjective",
    "r": "adverb",
}
NUMBERS = {"n": 1, "v": 2, "a": 3, "r": 4, "s": 5}  # of a sense key


@dataclass(frozen=True)
class Pointer:
    """A relation: its symbol, such as "@" (hypernym) or "!" (antonym), and the synset that it leads to.

    source, target: the numbers of the two words that it relates, from 1; 0 where it relates the whole synsets.
    """

    symbol: str
    address: str
    part_of_speech: PartOfSpeech
    source: int
    target: int


@dataclass(frozen=True)
class Synset:
    """One meaning: its words as they are written ("New_York"), and where its pointers lead.

    letter: the kind of synset, "s" for an adjective that is similar to a main one. numbers: [word], what tells apart senses
    of one word in the same file of the lexicographers, whose number is file_number.
    """

    address: str
    letter: str
    file_number: int
    words: tuple[str, ...]
    numbers: tuple[int, ...]
    pointers: tuple[Pointer, ...]

    @property
    def part_of_speech(self) -> PartOfSpeech:
        """The part of speech of its words."""
        return LETTERS[self.letter]


def synset(line: str) -> Synset:
    """The synset of a line of a data file; raises `ValueError` or `LookupError` for a line of another form."""
    columns = line.partition("|")[0].split()
    n_words = int(columns[3], 16)
    words_end = 4 + 2 * n_words
    n_pointers = int(columns[words_end])
    rows = [columns[words_end + 1 + 4 * row : words_end + 5 + 4 * row] for row in range(n_pointers)]
    words = tuple(word.partition("(")[0] for word in columns[4:words_end:2])  # without "(a)", "(p)", "(ip)"
    if not n_words or not all(words):
        raise ValueError
    numbers = tuple(int(number, 16) for number in columns[5:words_end:2])
    pointers = tuple(
        Pointer(symbol, address, LETTERS[letter], int(ends[:2], 16), int(ends[2:], 16))
        for symbol, address, letter, ends in rows
    )
    if columns[2] not in LETTERS or any(one.source > n_words for one in pointers):
        raise ValueError
    return Synset(columns[0], columns[2], int(columns[1]), words, numbers, pointers)


def addresses(line: str) -> tuple[str, ...]:
    """The addresses of a line of an index file, most frequent sense first; raises `ValueError` or `LookupError`."""
    columns = line.split()
    n_senses = int(columns[2])
    if len(columns) < 5 + n_senses or not n_senses >= 1 or not columns[-1].isdecimal():
        raise ValueError
    return tuple(columns[-n_senses:])
