"""A range of a text read alone, the text without it, and random ranges of the same length to compare it with.

A range is one of numbers of content units. pieces: for each content unit its pieces, from `Batch.pieces_of`.
"""

from collections.abc import Iterable, Sequence

import torch

from pellucid.core.passes.batch import Batch, Row

Pieces = Sequence[Sequence[int]]


def others_alike(one: range, texts: Sequence[int], count: int, generator: torch.Generator) -> list[range]:
    """At most `count` random other ranges of the same length, each within one text.

    one: the range that they differ from. texts: for each content unit the number of its text.
    """
    size = len(one)
    fitting = [
        range(start, start + size)
        for start in range(len(texts) - size + 1)
        if texts[start] == texts[start + size - 1] and start != one.start
    ]
    if len(fitting) <= count:
        return fitting
    order = torch.randperm(len(fitting), generator=generator)[:count]
    return [fitting[number] for number in order.tolist()]


def only(batch: Batch, example: int, pieces: Pieces, units: Iterable[int]) -> Row:
    """The example's row with only these units of its text; the others are absent, special tokens stay."""
    return without(batch, example, pieces, set(range(len(pieces))) - set(units))


def without(batch: Batch, example: int, pieces: Pieces, removed: Iterable[int]) -> Row:
    """The example's row without these units of its text, which are absent."""
    return batch.edited(example, [piece for number in removed for piece in pieces[number]], "absent")
