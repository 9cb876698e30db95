"""Saliency times the best replacement's gain, the order of PWWS.

Ren et al. (2019), "Generating Natural Language Adversarial Examples through Probability Weighted Word Saliency", equations 4 to 8.
"""

from collections.abc import Generator

import numpy as np

from pellucid.attacks.shared.attack_case import AttackCase
from pellucid.attacks.shared.attack_steps import Edits, Options
from pellucid.attacks.shared.ranking import Ranking
from pellucid.core.foundation.kinds import attack_orders


@attack_orders.add(method="occlusion")
def saliency_times_gain(case: AttackCase, options: Options) -> Generator[list[Edits], np.ndarray, Ranking]:
    """Units by softmax(saliency) x gain, each with the replacement that gains most in the text as it is; highest first.

    Saliency is the fall of the explained class's probability without the unit. Units without a replacement are left out: the
    softmax runs over all units, as in the paper.
    """
    assert case.scores is not None
    edits = [(unit, edit) for unit in range(len(case.units)) for edit in options.edits(unit)]
    if not edits:
        return Ranking(())
    answers = yield [(edit,) for _, edit in edits]
    gains = case.goal.nearness(answers) - case.start_nearness
    best: dict[int, int] = {}
    for number, (unit, _) in enumerate(edits):
        if unit not in best or gains[number] > gains[best[unit]]:
            best[unit] = number
    weights = np.exp(case.scores - case.scores.max())
    weights /= weights.sum()
    order = sorted(best, key=lambda unit: (-weights[unit] * gains[best[unit]], unit))
    return Ranking(tuple(order), {unit: edits[number][1].after for unit, number in best.items()})
