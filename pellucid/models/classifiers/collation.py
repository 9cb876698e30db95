"""Collation: from rows to the tensors that a network's forward takes, padded on the right."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from pellucid.core.passes.batch import Row, extent

NO_PIECE = -1


def collate(
    rows: Sequence[Row], *, pad: int, first_position: int, spread: bool, device: torch.device
) -> dict[str, Tensor]:
    """Columns [row position] by name: what networks of Hugging Face read, and word_index, segments, sentences, content.

    pad: the id that fills rows up. first_position: the position id of a row's first piece. spread: every piece stands at its
    own position, with unattended padding where pieces are absent; otherwise pieces stand close together and only their
    position ids have gaps.
    """
    distinct = list({id(row): row for row in rows}.values())
    columns = _columns(distinct, pad, first_position, spread, device)
    if len(distinct) == len(rows):
        return columns
    number = {id(row): place for place, row in enumerate(distinct)}  # the points of a path repeat one row
    places = torch.tensor([number[id(row)] for row in rows], device=device)
    return {name: column[places] for name, column in columns.items()}


def _columns(
    rows: Sequence[Row], pad: int, first_position: int, spread: bool, device: torch.device
) -> dict[str, Tensor]:
    """Of rows that are all different."""
    slots = [list(row.positions) if spread else slice(len(row)) for row in rows]
    longest = max(max(extent(row) if spread else len(row) for row in rows), 1)  # an empty text is padding

    def column(name: str, filling: int) -> Tensor:
        lines = np.full((len(rows), longest), filling, dtype=np.int64)
        for line, slot, row in zip(lines, slots, rows, strict=True):
            # A row that stands for an empty text has no sentences.
            line[slot] = getattr(row, name) or filling
        return torch.from_numpy(lines).to(device)

    ids = column("ids", NO_PIECE)
    columns = {
        "input_ids": ids.where(ids != NO_PIECE, pad),
        "attention_mask": (ids != NO_PIECE).long(),
        "token_type_ids": column("types", 0),
        "position_ids": column("positions", 0) + first_position,
        "word_index": column("word_index", NO_PIECE),
        "segments": column("segments", NO_PIECE),
    }
    # A decoder that reads the text one position later sees the same tokens.
    columns["decoder_attention_mask"] = columns["attention_mask"].roll(1, 1)
    columns["decoder_attention_mask"][:, 0] = 1
    if any(row.sentences for row in rows):
        columns["sentences"] = column("sentences", NO_PIECE)
    if any(row.content for row in rows):
        columns["content"] = column("content", NO_PIECE)
    return columns


def hidden(columns: Mapping[str, Tensor], pieces: Tensor) -> dict[str, Tensor]:
    """The columns of `collate` with these pieces [row position] unread, as absent pieces of spread rows are; ids stay."""
    absent = {
        "attention_mask": 0,
        "word_index": NO_PIECE,
        "segments": NO_PIECE,
        "sentences": NO_PIECE,
        "content": NO_PIECE,
    }
    return {
        name: column.masked_fill(pieces, absent[name]) if name in absent else column
        for name, column in columns.items()
    }


def closed_up(states: Tensor, rows: Sequence[Row]) -> Tensor:
    """[row position width] of spread rows -> [row piece width], in the order of their pieces, padded on the right."""
    longest = max(max(map(len, rows)), 1)
    positions = [[*row.positions, *(0,) * (longest - len(row))] for row in rows]
    index = torch.tensor(positions, device=states.device)
    return states[torch.arange(len(rows), device=states.device)[:, None], index]


def row_with_gaps(length: int, vocabulary: int, last: int) -> Row:
    """A row of random ids of which about two fifths are absent, to try how a network reads gaps.

    last: the id that it ends with, which some networks read.
    """
    generator = torch.Generator().manual_seed(0)
    ids = [*torch.randint(0, vocabulary, (length,), generator=generator).tolist()[:-1], last]
    absent = torch.rand(length, generator=generator) < 0.4
    inner = length - 2
    words, segments = (-1, *range(inner), -1), (-1, *(0,) * inner, -1)
    whole = Row(tuple(ids), (0,) * length, tuple(range(length)), words, segments)
    return whole.keep([n for n in range(length) if n in (0, length - 1) or not absent[n]])
