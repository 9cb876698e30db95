"""Synonyms from the first word to the last."""

from pellucid.attacks.shared.attack_plan import AttackPlan
from pellucid.core.foundation.kinds import attacks


@attacks.add(unit="word", source="TiWO of Ren et al. (2019), section 4.3")
def text_order() -> AttackPlan:
    """Words in reading order, each with its best synonym."""
    return AttackPlan("text_order", ("synonyms",))
