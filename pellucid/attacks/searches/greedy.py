"""One unit after another, each with its best replacement, until the goal is reached."""

from pellucid.attacks.shared.attack_case import AttackCase
from pellucid.attacks.shared.attack_steps import Edits, Options, Steps, nearest
from pellucid.attacks.shared.ranking import Ranking
from pellucid.core.foundation.kinds import attack_searches


@attack_searches.add()
def greedy(case: AttackCase, ranking: Ranking, options: Options) -> Steps:
    """In the ranking's order, try all replacements of a unit; the one nearest to the goal stays if it is nearer than before.

    Where the ranking has settled a unit's replacement, that one stays in any case, as in PWWS.
    """
    edits: Edits = ()
    nearness = case.start_nearness
    for unit in ranking.units:
        choices = options.edits(unit, edits)
        settled = unit in ranking.replacements
        if settled:
            choices = [edit for edit in choices if edit.after == ranking.replacements[unit]]
        if not choices:
            continue
        answers = yield [(*edits, edit) for edit in choices]
        best = nearest(case, answers)
        value = float(case.goal.nearness(answers)[best])
        if case.goal.reached(answers)[best]:
            return (*edits, choices[best])
        if settled or value > nearness:
            edits, nearness = (*edits, choices[best]), value
    return edits
