"""From piece vectors to the vectors of the units that spans are made of: words, or the pieces themselves."""

import torch
from torch import Tensor

from pellucid.core.passes.batch import Row
from pellucid.core.text.units import SPECIAL


def part_numbers(words: Tensor, segments: Tensor, unit: str) -> Tensor:
    """[batch piece]: each piece's part, counted from 0 in its row; -1 for special tokens and padding.

    Parts that an edit removed are closed up, so the numbers have no gaps.
    """
    content = segments != SPECIAL
    if unit == "piece":
        return torch.where(content, content.cumsum(1) - 1, SPECIAL)
    before = torch.nn.functional.pad(words[:, :-1], (1, 0), value=SPECIAL)
    fresh = content & (words != before)
    return torch.where(content, fresh.cumsum(1) - 1, SPECIAL)


def n_units(row: Row, unit: str) -> int:
    """How many parts a row has."""
    return int(part_numbers(torch.tensor([row.word_index]), torch.tensor([row.segments]), unit).max()) + 1


def parts_with(pieces: Tensor, words: Tensor, segments: Tensor, unit: str) -> Tensor:
    """[batch piece] -> [batch part]: 1 for the parts that have a marked piece, else 0; pieces: 1 where marked."""
    numbers = part_numbers(words, segments, unit)
    count = max(int(numbers.max()) + 1, 1)
    marked = pieces.new_zeros((len(pieces), count + 1))
    marked.scatter_reduce_(1, torch.where(numbers < 0, count, numbers), pieces, "amax")
    return marked[:, :count]


def merge_parts(states: Tensor, words: Tensor, segments: Tensor, unit: str) -> tuple[Tensor, Tensor]:
    """[batch piece width] -> mean vectors [batch part width] and each part's run [batch part], -1 where there is no part.

    A run number rises at every border between texts, so spans of one run cross neither a border nor a
    separator. The mean is a matrix product: deterministic on every device.
    """
    numbers = part_numbers(words, segments, unit)
    count = max(int(numbers.max()) + 1, 1)
    member = numbers[:, None, :] == torch.arange(count, device=numbers.device)[None, :, None]
    weights = member.to(states.dtype)
    vectors = weights @ states / weights.sum(-1, keepdim=True).clamp_min(1.0)
    runs = segments.new_full((len(segments), count + 1), SPECIAL)
    # All pieces of a part stand in one text; pieces of no part write to one more column, which is dropped.
    runs.scatter_(1, torch.where(numbers < 0, count, numbers), segments)
    return vectors, runs[:, :count]
