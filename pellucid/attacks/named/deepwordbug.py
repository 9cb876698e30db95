"""Misspelt words.

Gao et al. (2018), "Black-Box Generation of Adversarial Text Sequences to Evade Deep Learning Classifiers". They rank words by what the
model answers to the text's beginnings and ends; here occlusion ranks them.
"""

from pellucid.attacks.shared.attack_plan import AttackPlan
from pellucid.core.foundation.kinds import attacks


@attacks.add(unit="word", source="after Gao et al. (2018)")
def deepwordbug() -> AttackPlan:
    """Words by occlusion, each misspelt by one character; needs no dictionary."""
    return AttackPlan("occlusion", ("typos",))
