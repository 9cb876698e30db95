"""Which order, candidates, guards and search an attack is made of."""

from dataclasses import dataclass, field

from pellucid.base.entry import Choice
from pellucid.base.errors import BadSetting


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
