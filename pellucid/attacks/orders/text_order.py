"""Units in reading order."""

from pellucid.attacks.shared.attack_case import AttackCase
from pellucid.attacks.shared.attack_steps import Options
from pellucid.attacks.shared.ranking import Ranking
from pellucid.core.foundation.kinds import attack_orders


@attack_orders.add()
def text_order(case: AttackCase, options: Options) -> Ranking:
    """The units from the first to the last; "TiWO" of Ren et al. (2019)."""
    return Ranking(tuple(range(len(case.units))))
