"""Equal texts are explained once: of several, the first is computed, and each gets a copy under its own name."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from pellucid.results.explanation import Explanation
from pellucid.text.example import Example

Value = TypeVar("Value")


@dataclass(frozen=True)
class EqualTexts:
    """Examples of which some have equal texts. distinct: the first of each; index: [example] its place in distinct."""

    examples: tuple[Example, ...]
    distinct: tuple[Example, ...]
    index: tuple[int, ...]

    def first_of(self, values: Sequence[Value]) -> list[Value]:
        """[distinct example]: the value of the first example of each, from those of all."""
        return [values[self.index.index(place)] for place in range(len(self.distinct))]

    def all_of(self, explanations: Sequence[Explanation]) -> tuple[Explanation, ...]:
        """[example]: its explanation, from those of the distinct examples, with its own id, label and rationales."""
        pairs = zip(self.examples, self.index, strict=True)
        return tuple(replace(explanations[place], example=example) for example, place in pairs)


def equal_texts(
    examples: Sequence[Example], *, by_label: bool, passages: Sequence[tuple[str, ...]] | None = None
) -> EqualTexts:
    """Find examples with equal texts; by_label: they must have the same label too, where the target depends on it.

    passages: those of each example, which must be the same too; None: none are named.
    """
    places: dict[tuple[tuple[str, ...], str | None, tuple[str, ...]], int] = {}
    first: dict[int, Example] = {}
    index = []
    for example, own in zip(examples, passages or [()] * len(examples), strict=True):
        key = (tuple(example.segments), example.label if by_label else None, own)
        place = places.setdefault(key, len(places))
        first.setdefault(place, example)
        index.append(place)
    return EqualTexts(tuple(examples), tuple(first.values()), tuple(index))
