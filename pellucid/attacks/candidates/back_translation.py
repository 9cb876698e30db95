"""A unit translated to another language and back, by Apertium."""

from pellucid.attacks.shared.attack_case import AttackCase
from pellucid.core.foundation.kinds import attack_candidates


@attack_candidates.add(needs={"apertium"})
def back_translation(case: AttackCase, unit: int) -> list[str]:
    """The paraphrases of a unit, one a language at most."""
    return list(case.dictionaries.paraphrases(case.units[unit].text))
