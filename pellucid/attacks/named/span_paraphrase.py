"""The heaviest spans, each translated to another language and back.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", section 5.6: "Self-Explaining + Paraphrase".
"""

from pellucid.attacks.shared.attack_plan import AttackPlan
from pellucid.core.foundation.kinds import attacks


@attacks.add(unit="span", source="Sun et al. (2020), section 5.6")
def span_paraphrase(*, n_spans: int = 1) -> AttackPlan:
    """One of the heaviest spans becomes its back-translation, the heaviest first. n_spans: how many are tried; the paper's 1."""
    return AttackPlan("text_order", ("back_translation",), search=("one_unit", {"n_units": n_spans}))
