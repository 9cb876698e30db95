"""Words that a language head writes in the masked place.

As in Li et al. (2020), "BERT-ATTACK", section 3.2, and Garg & Ramakrishnan (2020), "BAE", for words of one piece and with the language head
that the model was loaded with.
"""

from pellucid.attacks.shared.attack_case import AttackCase
from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.errors import ModelCannot
from pellucid.core.foundation.kinds import attack_candidates
from pellucid.core.lexicon.inflection import in_case_of


@attack_candidates.add(needs={"language_head"})
def masked_words(case: AttackCase, unit: int, *, most: int = 20) -> list[str]:
    """The words that fit the place best, whatever they mean: use the guard `similarity` beside. most: at most so many, 1 to 50.

    A language head reads a place from its neighbours alone, so opposites fit as well as synonyms. Raises `ModelCannot` for a model that was
    loaded without a language head.
    """
    at_least("most", most, 1)
    if case.fillers is None:
        raise ModelCannot("masked_words needs a model with a language head; give language_head= to load.")
    word = case.units[unit].text
    near = (in_case_of(filler, word) for filler in case.fillers[unit] if filler.casefold() != word.casefold())
    return list(dict.fromkeys(near))[:most] if word.isalpha() else []
