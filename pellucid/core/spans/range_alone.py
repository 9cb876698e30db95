"""A range of a text read alone, the text without it, and random ranges of the same length to compare it with.

A range is one of numbers of content units. pieces: for each content unit its pieces, from `Batch.pieces_of`.
"""

from collections.abc import Iterable, Sequence

import torch

from pellucid.core.passes.batch import Batch, Row
from pellucid.core.text.units import SPECIAL

Pieces = Sequence[Sequence[int]]


def others_alike(one: range, texts: Sequence[int], count: int, generator: torch.Generator) -> list[range]:
    """At most `count` random other ranges of the same length, each within one text.

    one: the range that they differ from. texts: for each content unit the number of its text, or -1: no range lies there.
    """
    size = len(one)
    fitting = [
        range(start, start + size)
        for start in range(len(texts) - size + 1)
        if texts[start] == texts[start + size - 1] != SPECIAL and start != one.start
    ]
    if len(fitting) <= count:
        return fitting
    order = torch.randperm(len(fitting), generator=generator)[:count]
    return [fitting[number] for number in order.tolist()]


def choices_alike(
    ranges: Sequence[range], texts: Sequence[int], count: int, generator: torch.Generator
) -> list[list[range]]:
    """At most `count` random other choices of as many ranges, as long as these, which share no unit; each range within one text.

    Of one range no other is drawn twice (`others_alike`); of several a draw that was there before, or leaves no room, is left out.
    """
    if len(ranges) == 1:
        return [[one] for one in others_alike(ranges[0], texts, count, generator)]
    draws = [disjoint_alike(ranges, texts, generator) for _ in range(count)]
    different = {frozenset(one): one for one in draws if one is not None and set(one) != set(ranges)}
    return list(different.values())


def disjoint_alike(
    ranges: Sequence[range], texts: Sequence[int], generator: torch.Generator
) -> list[range] | None:
    """Random ranges as long as these, which share no unit, each within one text; None where those drawn first leave no room.

    The longest is drawn first. texts: for each content unit the number of its text, or -1: no range lies there.
    """
    drawn: list[range] = []
    for size in sorted(map(len, ranges), reverse=True):
        used = {unit for one in drawn for unit in one}
        fitting = [
            range(start, start + size)
            for start in range(len(texts) - size + 1)
            if texts[start] == texts[start + size - 1] != SPECIAL
            and not used & set(range(start, start + size))
        ]
        if not fitting:
            return None
        drawn.append(fitting[int(torch.randint(len(fitting), (1,), generator=generator))])
    return drawn


def only(batch: Batch, example: int, pieces: Pieces, units: Iterable[int]) -> Row:
    """The example's row with only these units of its text; the others are absent, special tokens stay."""
    return without(batch, example, pieces, set(range(len(pieces))) - set(units))


def without(batch: Batch, example: int, pieces: Pieces, removed: Iterable[int]) -> Row:
    """The example's row without these units of its text, which are absent."""
    return batch.edited(example, [piece for number in removed for piece in pieces[number]], "absent")
