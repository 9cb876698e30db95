"""Misspellings of a word by one character.

Gao et al. (2018), "Black-Box Generation of Adversarial Text Sequences to Evade Deep Learning Classifiers" (DeepWordBug), section 3.3.
"""

from pellucid.attacks.shared.attack_case import AttackCase
from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.kinds import attack_candidates

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


@attack_candidates.add()
def typos(case: AttackCase, unit: int, *, shortest: int = 4) -> list[str]:
    """Two neighbouring letters swapped, one left out, one put in, one replaced: one of each kind, drawn by the text and the seed.

    shortest: words with fewer letters stay as they are, 4 or more. The first and the last character stay, as people who mistype do; the paper
    does not keep them.
    """
    at_least("shortest", shortest, 4)
    word = case.units[unit].text
    if len(word) < shortest or not word.isalpha():
        return []
    draw = case.generator(f"typos of unit {unit}")
    at, letter = int(draw.integers(1, len(word) - 2)), ALPHABET[draw.integers(len(ALPHABET))]
    return [
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        word[:at] + word[at + 1 :],
        word[:at] + letter + word[at:],
        word[:at] + letter + word[at + 1 :],
    ]
