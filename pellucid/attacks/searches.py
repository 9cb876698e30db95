"""Searches of an attack: how edits are combined, a function each."""

from itertools import combinations, product

import numpy as np

from pellucid.attacks.attack_case import AttackCase, Edit, Ranking
from pellucid.attacks.attack_steps import Edits, Options, Steps, nearest
from pellucid.base.checks import at_least, between
from pellucid.base.errors import ModelCannot
from pellucid.base.kinds import attack_searches


@attack_searches.add()
def greedy(case: AttackCase, ranking: Ranking, options: Options) -> Steps:
    """In the ranking's order, try all replacements of a unit; the one nearest to the goal stays if it is nearer than
    before.

    One unit after another, each with its best replacement, until the goal is reached.

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


@attack_searches.add()
def beam(case: AttackCase, ranking: Ranking, options: Options, *, width: int = 4) -> Steps:
    """In the ranking's order, extend each of the `width` texts that are nearest to the goal, and leave each as it is,
    too.

    Like greedy, with several texts kept beside each other.
    """
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
        best_first = [every[index] for index in order]
    return best_first[0][1]


MOST_UNITS = 6


@attack_searches.add()
def exhaustive(case: AttackCase, ranking: Ranking, options: Options, *, n_units: int = MOST_UNITS) -> Steps:
    """Fewest edits first: all replacements of one unit, then of two together, and so on. n_units: of the ranking's
    first ones, 1 to 6.

    All combinations of replacements of few units: what no other search can beat, for tests and very
    short texts.
    """
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


@attack_searches.add()
def one_unit(case: AttackCase, ranking: Ranking, options: Options, *, n_units: int = 1) -> Steps:
    """Try the replacements of the first unit alone, then those of the second, and so on. n_units: how many units are
    tried.

    A single unit is edited, and the attack tries the next one only from the text as it was.
    """
    at_least("n_units", n_units, 1)
    for unit in ranking.units[:n_units]:
        choices: list[Edits] = [(edit,) for edit in options.edits(unit)]
        if choices:
            answers = yield choices
            best = nearest(case, answers)
            if case.goal.reached(answers)[best]:
                return choices[best]
    return ()


@attack_searches.add(needs={"gradient"})
def screened(case: AttackCase, ranking: Ranking, options: Options, *, per_unit: int = 3) -> Steps:
    """Units by the gain that their best replacement has to first order; of each the best few are asked, and the nearest
    to the goal stays if it is nearer than before.

    Greedy, but the gradient says which replacements are worth a question.

    Source: The first-order gains are those of Ebrahimi et al. (2018), "HotFlip"; that they only choose
    what is asked, and the model's answers decide, is ours.

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
    """For each unit that has replacements the few with the highest first-order gains; the unit with the best one
    first.
    """
    assert case.first_order is not None
    of_units: list[tuple[float, int, list[Edit]]] = []
    for unit in ranking.units:
        gains = sorted(
            ((-case.first_order(unit, edit.after), index, edit) for index, edit in enumerate(options.edits(unit))),
            key=lambda scored_edit: scored_edit[:2],
        )[:per_unit]
        if gains:
            of_units.append((gains[0][0], unit, [edit for _, _, edit in gains]))
    return [edits for _, _, edits in sorted(of_units, key=lambda scored_unit: scored_unit[:2])]
