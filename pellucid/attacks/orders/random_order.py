"""Units in an order drawn at random: what every other order must beat."""

from pellucid.attacks.shared.attack_case import AttackCase
from pellucid.attacks.shared.attack_steps import Options
from pellucid.attacks.shared.ranking import Ranking
from pellucid.core.foundation.kinds import attack_orders


@attack_orders.add()
def random_order(case: AttackCase, options: Options) -> Ranking:
    """The units in random order, by the text and the seed."""
    order = case.generator("random_order").permutation(len(case.units))
    return Ranking(tuple(int(unit) for unit in order))
