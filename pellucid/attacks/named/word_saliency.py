"""Synonyms where the model's answer falls most without the word."""

from pellucid.attacks.shared.attack_plan import AttackPlan
from pellucid.core.foundation.kinds import attacks


@attacks.add(unit="word", source="WS of Ren et al. (2019), section 4.3")
def word_saliency() -> AttackPlan:
    """Words by occlusion, each with its best synonym."""
    return AttackPlan("occlusion", ("synonyms",))
