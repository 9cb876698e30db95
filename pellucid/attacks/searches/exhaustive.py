"""All combinations of replacements of few units: what no other search can beat, for tests and very short texts."""

from itertools import combinations, product

from pellucid.attacks.shared.attack_case import AttackCase
from pellucid.attacks.shared.attack_steps import Edits, Options, Steps, nearest
from pellucid.attacks.shared.ranking import Ranking
from pellucid.core.foundation.checks import between
from pellucid.core.foundation.kinds import attack_searches

MOST_UNITS = 6


@attack_searches.add()
def exhaustive(case: AttackCase, ranking: Ranking, options: Options, *, n_units: int = MOST_UNITS) -> Steps:
    """Fewest edits first: all replacements of one unit, then of two together, and so on. n_units: of the ranking's first ones, 1 to 6."""
    between("n_units", n_units, 1, MOST_UNITS)
    units = ranking.units[:n_units]
    for count in range(1, len(units) + 1):
        choices = [edits for group in combinations(units, count) for edits in _combined(group, options)]
        if choices:
            answers = yield choices
            best = nearest(case, answers)
            if case.goal.reached(answers)[best]:
                return choices[best]
    return ()


def _combined(units: tuple[int, ...], options: Options) -> list[Edits]:
    """All choices of one replacement for each unit that the guards allow one after another."""
    sets = product(*(options.edits(unit) for unit in units))
    return [edits for edits in sets if all(options.allows(edits[:n], edits[n]) for n in range(len(edits)))]
