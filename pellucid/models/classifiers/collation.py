"""From rows to the tensors a network's forward takes, padded on the right."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from pellucid.core.passes.batch import Row, extent

NOT_THERE = -1


def placed(
    rows: Sequence[Row], *, pad: int, first_position: int, spread: bool, device: torch.device
) -> dict[str, Tensor]:
    """The columns [row place] that networks read, by the names that Hugging Face gives them, and words and segments.

    spread: every piece stands at its own position, with unattended padding where pieces are absent; otherwise
    pieces stand close together and only their position ids have gaps.
    """
    slots = [row.positions if spread else range(len(row)) for row in rows]
    longest = max(max(extent(row) if spread else len(row) for row in rows), 1)  # an emptied text is padding

    def column(name: str, filling: int) -> Tensor:
        lines = [[filling] * longest for _ in rows]
        for line, slot, row in zip(lines, slots, rows, strict=True):
            values = getattr(row, name) or (filling,) * len(
                row
            )  # what stands for an emptied text has no sentences
            for place, value in zip(slot, values, strict=True):
                line[place] = value
        return torch.tensor(lines, device=device)

    ids = column("ids", NOT_THERE)
    columns = {
        "input_ids": ids.where(ids != NOT_THERE, pad),
        "attention_mask": (ids != NOT_THERE).long(),
        "token_type_ids": column("types", 0),
        "position_ids": column("positions", 0) + first_position,
        "words": column("word_index", NOT_THERE),
        "segments": column("segments", NOT_THERE),
    }
    # A decoder that reads the text one position later sees the same tokens.
    columns["decoder_attention_mask"] = columns["attention_mask"].roll(1, 1)
    columns["decoder_attention_mask"][:, 0] = 1
    if any(row.sentences for row in rows):
        columns["sentences"] = column("sentences", NOT_THERE)
    if any(row.content for row in rows):
        columns["content"] = column("content", NOT_THERE)
    return columns


def first_position(network: Any) -> int:
    """The position id of the first token: RoBERTa's family counts from its padding id + 1."""
    places = [module for name, module in network.named_modules() if name.endswith("position_embeddings")]
    padding = getattr(places[0], "padding_idx", None) if places else None
    return 0 if padding is None else padding + 1


def closed_up(states: Tensor, rows: Sequence[Row]) -> Tensor:
    """[row place width] of spread rows -> [row piece width], in the order of their pieces, padded on the right."""
    longest = max(max(map(len, rows)), 1)
    places = [[*row.positions, *(0,) * (longest - len(row))] for row in rows]
    index = torch.tensor(places, device=states.device)
    return states[torch.arange(len(rows), device=states.device)[:, None], index]


def row_with_gaps(length: int, vocabulary: int, last: int) -> Row:
    """A row of random ids of which about two fifths are absent: what a network's way with gaps is tried on.

    last: the id that it ends with, which some networks read.
    """
    generator = torch.Generator().manual_seed(0)
    ids = [*torch.randint(0, vocabulary, (length,), generator=generator).tolist()[:-1], last]
    absent = torch.rand(length, generator=generator) < 0.4
    inner = length - 2
    words, segments = (-1, *range(inner), -1), (-1, *(0,) * inner, -1)
    whole = Row(tuple(ids), (0,) * length, tuple(range(length)), words, segments)
    return whole.keep([n for n in range(length) if n in (0, length - 1) or not absent[n]])
