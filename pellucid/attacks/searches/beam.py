"""Like greedy, with several texts kept beside each other."""

import numpy as np

from pellucid.attacks.shared.attack_case import AttackCase
from pellucid.attacks.shared.attack_steps import Edits, Options, Steps, nearest
from pellucid.attacks.shared.ranking import Ranking
from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.kinds import attack_searches


@attack_searches.add()
def beam(case: AttackCase, ranking: Ranking, options: Options, *, width: int = 4) -> Steps:
    """In the ranking's order, extend each of the `width` texts that are nearest to the goal, and leave each as it is, too."""
    at_least("width", width, 1)
    best_first: list[tuple[float, Edits]] = [(case.start_nearness, ())]
    for unit in ranking.units:
        longer = [(*edits, edit) for _, edits in best_first for edit in options.edits(unit, edits)]
        if not longer:
            continue
        answers = yield longer
        first = nearest(case, answers)
        if case.goal.reached(answers)[first]:
            return longer[first]
        values = case.goal.nearness(answers)
        every = [*best_first, *zip(map(float, values), longer, strict=True)]
        order = np.argsort([-value for value, _ in every], kind="stable")[:width]
        best_first = [every[number] for number in order]
    return best_first[0][1]
