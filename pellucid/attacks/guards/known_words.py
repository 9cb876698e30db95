"""What is put in consists of words that a dictionary has: neither misspelt, nor left untranslated."""

import re

from pellucid.attacks.shared.attack_case import AttackCase
from pellucid.attacks.shared.attack_steps import Edits
from pellucid.core.foundation.kinds import attack_guards
from pellucid.core.lexicon.morphology import parts_of_speech
from pellucid.core.lexicon.wordnet import WordNet
from pellucid.core.text.content_words import is_content_word
from pellucid.core.text.edits import Edit
from pellucid.core.text.units import text_units

PART = re.compile(r"[^\W\d_]+")


@attack_guards.add()
def known_words(case: AttackCase, before: Edits, edit: Edit) -> bool:
    """Whether WordNet has every content word of what is put in, or the text had it before; numbers and signs are no words.

    Of a word with hyphens or apostrophes its parts will do. Raises `BadFile`, with the package that brings it, where WordNet is not installed.
    """
    own = {
        text[start:end].casefold()
        for text in case.example.segments
        for start, end in text_units(text, "word")
    }
    words = (edit.after[start:end] for start, end in text_units(edit.after, "word"))
    return all(word.casefold() in own or _is_known(word, case.dictionaries.wordnet) for word in words)


def _is_known(word: str, wordnet: WordNet) -> bool:
    if not is_content_word(word) or parts_of_speech(word, wordnet):
        return True
    parts = PART.findall(word)
    return (len(parts) > 1 or not parts) and all(_is_known(part, wordnet) for part in parts)
