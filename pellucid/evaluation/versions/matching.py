"""Which texts two sets of explanations have in common: by id and text, and where a text has got another id, by the text."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from pellucid.core.results.explanation import Explanation

Pair = tuple[Explanation, Explanation]


@dataclass(frozen=True)
class Matches:
    """pairs: (before, after) of each common text, in the order of the first set. only_before, only_after: the rest."""

    pairs: tuple[Pair, ...]
    only_before: tuple[Explanation, ...]
    only_after: tuple[Explanation, ...]


def matched(before: Sequence[Explanation], after: Sequence[Explanation]) -> Matches:
    """The texts in common. A text that stands several times under one id counts once.

    Numbers of lines are ids too, and a new line in a file moves them all. So what no id and text match is matched by text alone.
    """
    first, second = _distinct(before), _distinct(after)
    pairs, first, second = _paired(first, second, lambda one: (one.example.id, one.example.segments))
    more, first, second = _paired(first, second, lambda one: one.example.segments)
    places = {id(one): place for place, one in enumerate(before)}
    ordered = sorted([*pairs, *more], key=lambda pair: places[id(pair[0])])
    return Matches(tuple(ordered), tuple(first), tuple(second))


def _distinct(explanations: Sequence[Explanation]) -> list[Explanation]:
    seen: dict[Hashable, Explanation] = {}
    for one in explanations:
        seen.setdefault((one.example.id, one.example.segments), one)
    return list(seen.values())


def _paired(
    before: list[Explanation], after: list[Explanation], key: Callable[[Explanation], Hashable]
) -> tuple[list[Pair], list[Explanation], list[Explanation]]:
    """The pairs of equal keys, and what is left of both sides; each explanation is in one pair at most."""
    waiting: dict[Hashable, list[Explanation]] = {}
    for one in after:
        waiting.setdefault(key(one), []).append(one)
    pairs, left = [], []
    for one in before:
        same = waiting.get(key(one))
        if same:
            pairs.append((one, same.pop(0)))
        else:
            left.append(one)
    used = {id(other) for _, other in pairs}
    return pairs, left, [one for one in after if id(one) not in used]
