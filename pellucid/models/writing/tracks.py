"""Tracks: the pieces of rows that one part of a network reads, the encoder or the decoder, as columns.

A row names all pieces, those that are read and those that are written; a track says at which place of which part each
stands. Written pieces keep their places whatever is taken out of the row: the place of an absent piece still asks for the
next one, and no other place reads it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from pellucid.core.passes.batch import Row

NO_PIECE = -1
PlaceOf = Callable[[Row, int], int]
Places = Callable[[Row], list[tuple[int, int]]]  # row -> (place, number of the piece in the row), in order
WRITTEN = 1  # the token type of a row's pieces that are written


@dataclass(frozen=True)
class Track:
    """Columns [row place], padded on the right. ids: what is read. attended: 1 where other places may read it. pieces: the
    number of the piece in its row, -1 where there is none. padding: whether the place is behind the row's last one; places of
    absent pieces are not."""

    ids: Tensor
    attended: Tensor
    pieces: Tensor
    padding: Tensor

    def at_places(self, embeddings: Tensor, spare: Tensor) -> Tensor:
        """[row unit width] -> [row place width]; spare [row place width] stands where there is no piece."""
        numbers = self.pieces.clamp_min(0)[..., None].expand(-1, -1, embeddings.shape[-1])
        return torch.where((self.pieces >= 0)[..., None], embeddings.gather(1, numbers), spare)

    def places_of(self, count: int) -> Tensor:
        """[row unit] for `count` units: the place of each, -1 where it has none on this track."""
        rows, places = (self.pieces >= 0).nonzero(as_tuple=True)
        none = torch.full((len(self.pieces), count), NO_PIECE, device=self.pieces.device)
        return none.index_put((rows, self.pieces[rows, places]), places)

    def collect(self, vectors: Tensor, embeddings: Tensor) -> Tensor:
        """[row place width] into [row unit width]: each piece's vector at its number."""
        rows, places = (self.pieces >= 0).nonzero(as_tuple=True)
        return embeddings.index_put((rows, self.pieces[rows, places]), vectors[rows, places])


def track(
    rows: Sequence[Row], places: Places, blank: int, writes: PlaceOf | None, device: torch.device
) -> Track:
    """The columns of rows. blank: the id of places without a piece.

    writes: of a track that writes, (row, number of a piece as encoded) -> its place: it has every place from which a piece is
    written, and its first place is read whatever stands there. None: the track only reads.
    """
    of_rows = [places(row) for row in rows]
    lengths = [max((place + 1 for place, _ in of_row), default=1) for of_row in of_rows]
    if writes is not None:
        lengths = [
            max(own, writes(row, len(row.written) - 1)) for own, row in zip(lengths, rows, strict=True)
        ]
    longest = max(lengths)
    ids, pieces = torch.full((len(rows), longest), blank), torch.full((len(rows), longest), NO_PIECE)
    for number, (row, of_row) in enumerate(zip(rows, of_rows, strict=True)):
        for place, piece in of_row:
            ids[number, place], pieces[number, place] = row.ids[piece], piece
    attended = (pieces >= 0).long()
    if writes is not None:
        attended[:, 0] = 1
    padding = torch.arange(longest) >= torch.tensor(lengths)[:, None]
    return Track(ids.to(device), attended.to(device), pieces.to(device), padding.to(device))


def writing_places(rows: Sequence[Row], place_of: PlaceOf, device: torch.device) -> tuple[Tensor, Tensor]:
    """[row piece]: the ids that are to be written, -1 in padding, and the place of a track that says each of them.

    place_of: (row, number of a piece as encoded) -> its place.
    """
    written = [
        [(id, place_of(row, piece) - 1) for piece, id in enumerate(row.written) if id >= 0] for row in rows
    ]
    longest = max(map(len, written))
    filled = [[*of_row, *[(NO_PIECE, 0)] * (longest - len(of_row))] for of_row in written]
    both = torch.tensor(filled, device=device)
    return both[..., 0], both[..., 1]
