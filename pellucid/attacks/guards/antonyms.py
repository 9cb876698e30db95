"""A word does not become its opposite: then a reader would change the answer too."""

from pellucid.attacks.shared.attack_case import AttackCase
from pellucid.attacks.shared.attack_steps import Edits
from pellucid.attacks.shared.dictionaries import PARTS_OF_SPEECH
from pellucid.core.foundation.kinds import attack_guards
from pellucid.core.lexicon.antonyms import antonyms as antonyms_of
from pellucid.core.text.edits import Edit


@attack_guards.add()
def antonyms(case: AttackCase, before: Edits, edit: Edit) -> bool:
    """Whether what stands in a word's place afterwards is no antonym of it by WordNet, in any sense of either.

    Raises `BadFile`, with the package that brings it, where WordNet is not installed.
    """
    wordnet = case.dictionaries.wordnet
    new, old = edit.after.lower(), edit.before.lower()
    return not any(
        new in antonyms_of(old, part, wordnet) or old in antonyms_of(new, part, wordnet)
        for part in PARTS_OF_SPEECH
    )
