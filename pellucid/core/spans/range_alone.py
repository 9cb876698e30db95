"""A stretch of a text read alone, the text without it, and random stretches to set it against.

A stretch is a range of the numbers of content units; pieces: for each content unit its pieces, from `Batch.pieces_of`.
"""

from collections.abc import Iterable, Sequence

import torch

from pellucid.core.passes.batch import Batch, Row

Pieces = Sequence[Sequence[int]]


def others_alike(stretch: range, texts: Sequence[int], count: int, generator: torch.Generator) -> list[range]:
    """Random other stretches of the same length within one text: all where there are no more than `count`."""
    size = len(stretch)
    fitting = [
        range(start, start + size)
        for start in range(len(texts) - size + 1)
        if texts[start] == texts[start + size - 1] and start != stretch.start
    ]
    if len(fitting) <= count:
        return fitting
    order = torch.randperm(len(fitting), generator=generator)[:count]
    return [fitting[number] for number in order.tolist()]


def only(batch: Batch, example: int, pieces: Pieces, kept: Iterable[int]) -> Row:
    """The example's row with these units of its text alone, the others absent; special tokens stay."""
    return without(batch, example, pieces, set(range(len(pieces))) - set(kept))


def without(batch: Batch, example: int, pieces: Pieces, removed: Iterable[int]) -> Row:
    """The example's row with these units of its text absent."""
    return batch.edited(example, [piece for number in removed for piece in pieces[number]], "absent")
