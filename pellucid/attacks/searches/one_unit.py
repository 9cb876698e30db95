"""A single unit is edited, and the attack tries the next one only from the text as it was."""

from pellucid.attacks.shared.attack_case import AttackCase
from pellucid.attacks.shared.attack_steps import Edits, Options, Steps, nearest
from pellucid.attacks.shared.ranking import Ranking
from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.kinds import attack_searches


@attack_searches.add()
def one_unit(case: AttackCase, ranking: Ranking, options: Options, *, n_units: int = 1) -> Steps:
    """Try the replacements of the first unit alone, then those of the second, and so on. n_units: how many units are tried."""
    at_least("n_units", n_units, 1)
    for unit in ranking.units[:n_units]:
        choices: list[Edits] = [(edit,) for edit in options.edits(unit)]
        if choices:
            answers = yield choices
            best = nearest(case, answers)
            if case.goal.reached(answers)[best]:
                return choices[best]
    return ()
