"""Greedy, but the gradient says which replacements are worth a question.

The first-order gains are those of Ebrahimi et al. (2018), "HotFlip"; that they only choose what is asked, and the model's answers decide, is
ours.
"""

from pellucid.attacks.shared.attack_case import AttackCase
from pellucid.attacks.shared.attack_steps import Edits, Options, Steps, nearest
from pellucid.attacks.shared.ranking import Ranking
from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.errors import ModelCannot
from pellucid.core.foundation.kinds import attack_searches
from pellucid.core.text.edits import Edit


@attack_searches.add(needs={"gradient"})
def screened(case: AttackCase, ranking: Ranking, options: Options, *, per_unit: int = 3) -> Steps:
    """Units by the gain that their best replacement has to first order; of each the best few are asked, and the nearest to the goal stays
    if it is nearer than before.

    per_unit: how many of a unit's replacements are asked, 1 or more. Of the ranking only which units it has counts.
    """
    at_least("per_unit", per_unit, 1)
    if case.first_order is None:
        raise ModelCannot("The search screened needs a model with gradients; use greedy.")
    worth = _worth_asking(case, ranking, options, per_unit)
    edits: Edits = ()
    nearness = case.start_nearness
    for choices in worth:
        allowed = [edit for edit in choices if options.allows(edits, edit)]
        if not allowed:
            continue
        answers = yield [(*edits, edit) for edit in allowed]
        best = nearest(case, answers)
        if case.goal.reached(answers)[best]:
            return (*edits, allowed[best])
        if float(case.goal.nearness(answers)[best]) > nearness:
            edits, nearness = (*edits, allowed[best]), float(case.goal.nearness(answers)[best])
    return edits


def _worth_asking(case: AttackCase, ranking: Ranking, options: Options, per_unit: int) -> list[list[Edit]]:
    """For each unit that has replacements the few with the highest first-order gains; the unit with the best one first."""
    assert case.first_order is not None
    of_units: list[tuple[float, int, list[Edit]]] = []
    for unit in ranking.units:
        gains = sorted(
            (
                (-case.first_order(unit, edit.after), number, edit)
                for number, edit in enumerate(options.edits(unit))
            ),
            key=lambda one: one[:2],
        )[:per_unit]
        if gains:
            of_units.append((gains[0][0], unit, [edit for _, _, edit in gains]))
    return [edits for _, _, edits in sorted(of_units, key=lambda one: one[:2])]
