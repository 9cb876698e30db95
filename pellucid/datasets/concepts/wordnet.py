"""WordNet's nouns: a concept is a synset with all its hyponyms.

Fellbaum (1998), "WordNet: An Electronic Lexical Database".
"""

from collections.abc import Sequence
from pathlib import Path

from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.kinds import concept_readers
from pellucid.core.foundation.wording import quoted
from pellucid.core.lexicon.wordnet import WordNet
from pellucid.core.lexicon.wordnet_lines import Synset
from pellucid.core.text.concept import Concept
from pellucid.datasets.shared.concept_lines import named_or_refused

HYPONYMS = ("~", "~i")  # kinds, and instances such as cities


@concept_readers.add(reads="a folder with data.noun and index.noun", endings=("folder",))
def wordnet(path: Path, names: Sequence[str], most: int) -> list[Concept]:
    """The words of a noun's synset and of all its hyponyms, nearest first; words of several parts are left out.

    names: nouns; their first sense is read, or that of a number: "time", "feeling.2". most: the most words of each.

    Raises `BadFile`, with the line, for a line of another form that is read, and for a noun or a sense that is not there.
    """
    dictionary = WordNet(path)
    words = {name: _below(_first(dictionary, name), dictionary) for name in names}
    return named_or_refused(path, words, most)


def _first(dictionary: WordNet, name: str) -> Synset:
    noun, _, number = name.partition(".")
    senses = dictionary.senses(noun, "noun")
    sense = int(number) if number.isdecimal() else 1
    if not 1 <= sense <= len(senses):
        raise BadFile(
            f"{dictionary.folder} has no sense {sense} of {quoted(noun)}; it has {len(senses)} senses of that noun."
        )
    return senses[sense - 1]


def _below(first: Synset, dictionary: WordNet) -> list[str]:
    """The words of a synset and of those below it, level by level."""
    waiting = {first.address: first}
    words: list[str] = []
    for address in (order := list(waiting)):
        words += [word for word in waiting[address].words if "_" not in word]
        for _, lower in dictionary.related(waiting[address], *HYPONYMS):
            if lower.address not in waiting:
                waiting[lower.address] = lower
                order.append(lower.address)
    return list(dict.fromkeys(words))
