"""Synonyms at random places: what every other attack must beat."""

from pellucid.attacks.shared.attack_plan import AttackPlan
from pellucid.core.foundation.kinds import attacks


@attacks.add(unit="word", source="Random of Ren et al. (2019), section 4.3")
def random() -> AttackPlan:
    """Words in random order, each with its best synonym."""
    return AttackPlan("random_order", ("synonyms",))
