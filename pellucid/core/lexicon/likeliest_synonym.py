"""The most frequent synonym of a word whose part of speech nobody said."""

from pellucid.core.lexicon.inflection import in_form_of
from pellucid.core.lexicon.morphology import parts_of_speech
from pellucid.core.lexicon.synonyms import synonyms
from pellucid.core.lexicon.wordnet import WordNet


def likeliest_synonym(word: str, wordnet: WordNet) -> str | None:
    """The most frequent synonym of one word in the word's likeliest part of speech, in its form and case; None where there is none.

    >>> likeliest_synonym("films", wordnet)
    'movies'
    """
    for part_of_speech in list(parts_of_speech(word, wordnet))[:1]:
        one_word = [each for each in synonyms(word, part_of_speech, wordnet) if each.isalpha()]
        if one_word:
            return in_form_of(one_word[0], word, part_of_speech, wordnet)
    return None
