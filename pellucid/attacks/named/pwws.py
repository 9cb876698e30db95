"""Probability weighted word saliency.

Ren et al. (2019), "Generating Natural Language Adversarial Examples through Probability Weighted Word Saliency", section 3.
"""

from pellucid.attacks.shared.attack_plan import AttackPlan
from pellucid.core.foundation.kinds import attacks


@attacks.add(unit="word", source="Ren et al. (2019)")
def pwws(*, named_entities: bool = False) -> AttackPlan:
    """Words by softmax(saliency) x best gain, each with the synonym that gains most in the text as it is.

    named_entities: names also become the commonest name of their kind in other classes' training texts, as in the paper; needs train=.
    """
    return AttackPlan("saliency_times_gain", ("synonyms", *(["named_entities"] if named_entities else [])))
