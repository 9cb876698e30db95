"""Which order, candidates, guards and search an attack is made of."""

from dataclasses import dataclass, field

from pellucid.attacks.shared.attack_steps import AttackParts
from pellucid.core.foundation.entry import Choice
from pellucid.core.foundation.errors import BadSetting, UnknownName
from pellucid.core.foundation.kinds import (
    attack_candidates,
    attack_guards,
    attack_orders,
    attack_searches,
    attributions,
)
from pellucid.core.foundation.wording import listed


@dataclass(frozen=True)
class AttackPlan:
    """The parts of an attack, each by name, or as (name, settings).

    order: an order of `attack_orders`, or any attribution method, whose highest scores come first. candidates: all of them are tried.
    guards: an edit must pass all. search: how edits are combined. Raises `BadSetting` without candidates, or for a string in place of a tuple.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> plan = pellucid.AttackPlan("occlusion", ("typos",), search=("beam", {"width": 2}))
    >>> pellucid.attack(model, "A good film.", plan)[0].ending
    'success'
    """

    order: Choice
    candidates: tuple[Choice, ...]
    guards: tuple[Choice, ...] = ("content_words",)
    search: Choice = field(default="greedy")

    def __post_init__(self) -> None:
        for name in ("candidates", "guards"):
            if not isinstance(getattr(self, name), tuple | list):
                raise BadSetting(
                    f"{name} of a plan is {getattr(self, name)!r}; give a tuple of names, such as ({getattr(self, name)!r},)."
                )
        if not self.candidates:
            raise BadSetting(
                "A plan without candidates has nothing to put in; give one or more, such as ('synonyms',)."
            )


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
        f"No order of an attack is called {name!r}. There are: {listed(attack_orders.names())}, and every attribution method "
        "(pellucid methods)."
    )
