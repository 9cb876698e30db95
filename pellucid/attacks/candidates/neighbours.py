"""Words whose vectors in the model's own table are near.

As in Jin et al. (2020), "Is BERT Really Robust?" (TextFooler), section 2, but by the model's vectors in place of counter-fitted ones, which are
no package; near in such vectors are antonyms too, which the guard `antonyms` keeps out.
"""

from pellucid.attacks.shared.attack_case import AttackCase
from pellucid.core.foundation.checks import at_least, between
from pellucid.core.foundation.kinds import attack_candidates
from pellucid.core.lexicon.inflection import in_case_of


@attack_candidates.add(needs={"word_vectors"})
def neighbours(case: AttackCase, unit: int, *, most: int = 50, least: float = 0.4) -> list[str]:
    """The words with the nearest vectors, in the case of the word that they replace.

    most: at most so many, 1 to 100. least: their cosine at least, -1 to 1. Raises `ModelCannot` for a model without vectors of words.
    """
    at_least("most", most, 1)
    between("least", least, -1, 1)
    word = case.units[unit].text
    if not word.isalpha():
        return []
    near = (other for other, cosine in case.dictionaries.near(word) if cosine >= least)
    return list(dict.fromkeys(in_case_of(other, word) for other in near))[:most]
