"""Explanations in groups: those of one text, of one method, of one model."""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from pellucid.core.results.explanation import Explanation

Key = TypeVar("Key", bound=Hashable)


def by_example(explanations: Sequence[Explanation]) -> list[list[Explanation]]:
    """The explanations of each example; examples in the order in which they first appear."""
    groups = _grouped(explanations, lambda one: (one.example.id, one.example.segments, one.example.label))
    return list(groups.values())


def by_method(explanations: Sequence[Explanation]) -> dict[str, list[Explanation]]:
    """Method's title -> its explanations; methods in the order in which they first appear."""
    return _grouped(explanations, lambda one: one.method)


def by_model(explanations: Sequence[Explanation]) -> list[list[Explanation]]:
    """The explanations of each model; models in the order in which they first appear."""
    return list(_grouped(explanations, lambda one: (one.model, one.model_hash)).values())


def _grouped(
    explanations: Sequence[Explanation], key: Callable[[Explanation], Key]
) -> dict[Key, list[Explanation]]:
    groups: dict[Key, list[Explanation]] = {}
    for explanation in explanations:
        groups.setdefault(key(explanation), []).append(explanation)
    return groups
