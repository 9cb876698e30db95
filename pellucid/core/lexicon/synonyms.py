"""Synonyms of a word in its part of speech, without those that are antonyms in another sense."""

from pellucid.core.lexicon.antonyms import antonyms
from pellucid.core.lexicon.morphology import base_forms
from pellucid.core.lexicon.wordnet import PartOfSpeech, Synset, WordNet

INSTANCE_OF = "@i"


def synonyms(word: str, part_of_speech: PartOfSpeech, wordnet: WordNet) -> tuple[str, ...]:
    """Words that share a synset with a word, or with what it is a form of; most frequent first, as base forms.

    A synonym's frequency is how often WordNet's texts have it in the senses that it shares with the word; among equals, the
    word's more frequent senses come first. Terms of several words are written with blanks ("motion picture"). Left out are senses
    that are one person, place or event ("day" is also the writer Clarence Day), and what is an antonym of the word in any sense, or
    has it as antonym.

    >>> synonyms("films", "noun", wordnet)[:3]
    ('movie', 'picture', 'pic')
    """
    bases = base_forms(word, part_of_speech, wordnet)
    refused = antonyms(word, part_of_speech, wordnet)
    counts: dict[str, int] = {}
    for base in bases:
        for sense in filter(_is_kind, wordnet.senses(base, part_of_speech)):
            for one in sense.words:
                name = one.replace("_", " ")
                if name.lower() not in (*bases, word.lower()) and name.lower() not in refused:
                    counts[name] = counts.get(name, 0) + wordnet.count(sense, one)
    # Stable: names are in the order of the word's senses.
    ordered = sorted(counts, key=lambda name: -counts[name])
    own = {word.lower(), *bases}
    return tuple(one for one in ordered if own.isdisjoint(antonyms(one, part_of_speech, wordnet)))


def _is_kind(sense: Synset) -> bool:
    """Whether a sense is a kind of thing, and not one person, place or event."""
    return all(pointer.symbol != INSTANCE_OF for pointer in sense.pointers)
