"""Synonyms that the gradient singles out; the model is asked about these alone."""

from pellucid.attacks.shared.attack_plan import AttackPlan
from pellucid.core.foundation.kinds import attacks


@attacks.add(
    unit="word", needs={"gradient"}, source="ours, with the first-order gains of Ebrahimi et al. (2018)"
)
def screened(*, per_unit: int = 3) -> AttackPlan:
    """Words by the best first-order gain of their synonyms; per_unit: how many synonyms of a word are asked, 1 or more."""
    return AttackPlan("text_order", ("synonyms",), search=("screened", {"per_unit": per_unit}))
