"""Antonyms: the words that WordNet sets against a word, and for adjectives also those that are similar to such a word."""

from collections.abc import Iterator

from pellucid.core.lexicon.morphology import base_forms
from pellucid.core.lexicon.wordnet import PartOfSpeech, Synset, WordNet

ANTONYM, SIMILAR = "!", "&"


def antonyms(word: str, part_of_speech: PartOfSpeech, wordnet: WordNet) -> frozenset[str]:
    """Every word, in lower case, that is an antonym of a word in one of its senses.

    An antonym's synonyms of that sense count too. Adjectives form clusters around a main one: "rapid" is similar to "fast",
    "sluggish" to "slow", so the antonyms of each are the whole cluster of the other.

    >>> sorted(antonyms("rapid", "adjective", wordnet))[:3]
    ['bumper-to-bumper', 'dilatory', 'drawn-out']
    """
    opposite = {
        other
        for base in base_forms(word, part_of_speech, wordnet)
        for sense in wordnet.senses(base, part_of_speech)
        for other in _opposite(sense, base, wordnet)
    }
    return frozenset(one.replace("_", " ").lower() for other in opposite for one in other.words)


def _opposite(sense: Synset, base: str, wordnet: WordNet) -> Iterator[Synset]:
    """The synsets that stand against a word in one sense."""
    if sense.part_of_speech != "adjective":
        names = [one.replace("_", " ").lower() for one in sense.words]
        for pointer, other in wordnet.related(sense, ANTONYM):
            if not pointer.source or names[pointer.source - 1] == base:
                yield other
        return
    mains = [main for _, main in wordnet.related(sense, SIMILAR)] if sense.letter == "s" else [sense]
    for main in mains:
        for _, other in wordnet.related(main, ANTONYM):
            yield other
            yield from (similar for _, similar in wordnet.related(other, SIMILAR))
