"""Synonyms where the gradient is largest."""

from pellucid.attacks.shared.attack_plan import AttackPlan
from pellucid.core.foundation.kinds import attacks


@attacks.add(unit="word", needs={"gradient"}, source="Gradient of Ren et al. (2019), section 4.3")
def gradient() -> AttackPlan:
    """Words by the length of the gradient, each with its best synonym."""
    return AttackPlan("gradient", ("synonyms",))
