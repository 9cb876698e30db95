"""The parts of a plan, joined to one generator: it yields lists of edited texts, gets the model's answers, and returns
its edits.

An order may also ask about the text without a unit: it then yields an `Omission` in place of edits.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from types import GeneratorType

import numpy as np

from pellucid.attacks.attack_case import AttackCase, Edit, Omission, Ranking, highest_first
from pellucid.attacks.named import AttackPlan
from pellucid.attacks.omission_scores import omission_scores, omissions_at
from pellucid.base.catalogue import Call
from pellucid.base.checks import listed
from pellucid.base.entry import Choice
from pellucid.base.errors import UnknownName
from pellucid.base.kinds import (
    attack_candidates,
    attack_guards,
    attack_orders,
    attack_searches,
    attributions,
)

Edits = tuple[Edit, ...]
Variant = Edits | Omission  # of the text that is attacked
Steps = Generator[Sequence[Variant], np.ndarray, Edits]
RankingSteps = Generator[Sequence[Variant], np.ndarray, Ranking]


@dataclass(frozen=True)
class AttackParts:
    """A plan whose names were looked up. order: None where an attribution method gives it."""

    order: Call | None
    candidates: Sequence[Call]
    guards: Sequence[Call]
    search: Call


class Options:
    """What may stand in the places of a case's units, after the guards."""

    def __init__(self, case: AttackCase, parts: AttackParts) -> None:
        self.case, self.parts = case, parts
        self._replacements: dict[int, tuple[str, ...]] = {}

    def replacements(self, unit: int) -> tuple[str, ...]:
        """The different texts that all candidates offer for a unit, without its own."""
        if unit not in self._replacements:
            offers = (call(self.case, unit) for call in self.parts.candidates)
            every = dict.fromkeys(text for offer in offers for text in offer)
            self._replacements[unit] = tuple(text for text in every if text != self.case.units[unit].text)
        return self._replacements[unit]

    def edits(self, unit: int, before: Edits = ()) -> list[Edit]:
        """The edits of a unit that all guards allow after the edits before it."""
        if any(edit.overlaps(self.case.edit(unit, "")) for edit in before):
            return []
        options = (self.case.edit(unit, text) for text in self.replacements(unit))
        return [edit for edit in options if self.allows(before, edit)]

    def allows(self, before: Edits, edit: Edit) -> bool:
        """Whether all guards allow an edit after others."""
        return all(guard(self.case, before, edit) for guard in self.parts.guards)


def attack_steps(case: AttackCase, parts: AttackParts) -> Steps:
    """The whole attack on one text."""
    options = Options(case, parts)
    if parts.order is None:
        ranking = yield from _by_scores(case)
    else:
        ranking = yield from _steps_of(parts.order(case, options))
    return (yield from parts.search(case, ranking, options))


def _by_scores(case: AttackCase) -> RankingSteps:
    """Units by the scores of an attribution method, asked for where they are not there yet."""
    if case.scores is not None:
        return highest_first(case.scores)
    units = range(len(case.units))
    answers = yield omissions_at(case, units)
    return highest_first(omission_scores(case, units, answers))


def _steps_of(result: Ranking | RankingSteps) -> RankingSteps:
    """What an order returns, whether it asks the model or not."""
    if isinstance(result, GeneratorType):
        return (yield from result)
    assert isinstance(result, Ranking)
    return result


def nearest(case: AttackCase, answers: np.ndarray) -> int:
    """The number of the answer that is nearest to the goal, those that reach it first; of equal ones the first."""
    reached, nearness = case.goal.reached(answers), case.goal.nearness(answers)
    return int(np.lexsort((np.arange(len(answers)), -nearness, ~reached))[0])


# The names of a plan, looked up; and which attribution method an order reads.


def parts_of(plan: AttackPlan) -> AttackParts:
    """The parts of a plan; raises `UnknownName` for one that does not exist, `BadSetting` for its settings."""
    order = None if _method_name(plan.order) else attack_orders.calls([plan.order])[0]
    return AttackParts(
        order,
        attack_candidates.calls(plan.candidates),
        attack_guards.calls(plan.guards),
        attack_searches.calls([plan.search])[0],
    )


def method_of(plan: AttackPlan) -> Choice | None:
    """The attribution method whose scores the order of a plan reads, or None."""
    if _method_name(plan.order):
        return plan.order
    name = plan.order if isinstance(plan.order, str) else plan.order[0]
    return attack_orders.get(name).facts["method"] or None


def asks_omissions(plan: AttackPlan) -> bool:
    """Whether the order can ask for the scores of `occlusion`, at its usual settings, itself."""
    if plan.order == "occlusion":
        return True
    name = plan.order if isinstance(plan.order, str) else plan.order[0]
    return name in attack_orders.names() and bool(attack_orders.get(name).facts["asks"])


def _method_name(order: Choice) -> str | None:
    """The name of an order that is an attribution method; None for one of `attack_orders`."""
    name = order if isinstance(order, str) else order[0]
    if name in attack_orders.names():
        return None
    if name in attributions.names():
        return name
    raise UnknownName(
        f"No order of an attack is called {name!r}. There are: {listed(attack_orders.names())}, and every attribution "
        f"method (pellucid methods)."
    )
