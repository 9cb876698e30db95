"""WordNet's nouns, from its database files: a concept is a synset with all its hyponyms.

Fellbaum (1998), "WordNet: An Electronic Lexical Database"; the files are described in its page wndb(5WN).
"""

from collections.abc import Sequence
from pathlib import Path

from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.kinds import concept_readers
from pellucid.core.foundation.wording import quoted
from pellucid.core.text.concept import Concept
from pellucid.datasets.shared.concept_lines import named_or_refused, numbered_lines

HYPONYMS = ("~", "~i")  # kinds, and instances such as cities


@concept_readers.add(reads="a folder with data.noun and index.noun", endings=("folder",))
def wordnet(path: Path, names: Sequence[str], most: int) -> list[Concept]:
    """The words of a noun's synset and of all its hyponyms, nearest first; words of several parts are left out.

    names: nouns; their first sense is read, or that of a number: "time", "feeling.2". most: the most words of each.

    Raises `BadFile`, with the line, for a line of another form, and for a noun or a sense that is not there.
    """
    synsets = _synsets(path / "data.noun")
    senses = _senses(path / "index.noun", {name.partition(".")[0].lower() for name in names})
    words = {name: _below(_first(path, name, senses), synsets, path) for name in names}
    return named_or_refused(path, words, most)


def _senses(path: Path, nouns: set[str]) -> dict[str, list[str]]:
    """Noun -> the addresses of its synsets, most frequent sense first."""
    senses: dict[str, list[str]] = {}
    for number, line in numbered_lines(path):
        if line.startswith("  "):
            continue  # the licence
        columns = line.split()
        if len(columns) < 5 or not columns[2].isdecimal() or not columns[-1].isdecimal():
            raise BadFile(f"Line {number} of {path} is no line of a WordNet index.")
        if columns[0] in nouns:
            senses[columns[0]] = columns[-int(columns[2]) :]
    return senses


def _first(path: Path, name: str, senses: dict[str, list[str]]) -> str:
    noun, _, number = name.partition(".")
    addresses = senses.get(noun.lower(), [])
    sense = int(number) if number.isdecimal() else 1
    if not 1 <= sense <= len(addresses):
        raise BadFile(
            f"{path} has no sense {sense} of {quoted(noun)}; it has {len(addresses)} senses of that noun."
        )
    return addresses[sense - 1]


def _synsets(path: Path) -> dict[str, tuple[list[str], list[str]]]:
    """Address -> the synset's words, and the addresses of its hyponyms."""
    synsets: dict[str, tuple[list[str], list[str]]] = {}
    for number, line in numbered_lines(path):
        if line.startswith("  "):
            continue
        try:
            columns = line.partition("|")[0].split()
            n_words = int(columns[3], 16)
            pointers = 4 + 2 * n_words
            n_pointers = int(columns[pointers])
            rows = [columns[pointers + 1 + 4 * one : pointers + 5 + 4 * one] for one in range(n_pointers)]
            below = [address for symbol, address, _, _ in rows if symbol in HYPONYMS]
        except (IndexError, ValueError):
            raise BadFile(f"Line {number} of {path} is no synset of WordNet.") from None
        synsets[columns[0]] = columns[4:pointers:2], below
    return synsets


def _below(address: str, synsets: dict[str, tuple[list[str], list[str]]], path: Path) -> list[str]:
    """The words of a synset and of those below it, level by level."""
    waiting, seen, words = [address], {address}, []
    for here in waiting:
        if here not in synsets:
            raise BadFile(
                f"{path} names synset {here}, which data.noun does not have; the files are of two versions."
            )
        own, below = synsets[here]
        words += [word for word in own if "_" not in word]
        waiting += [one for one in dict.fromkeys(below) if one not in seen]
        seen.update(below)
    return list(dict.fromkeys(words))
