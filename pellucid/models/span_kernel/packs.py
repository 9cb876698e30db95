"""Which texts share tiles, and how their spans are cut into them."""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from pellucid.models.span_kernel.limits import SpanLimits
from pellucid.models.span_kernel.texts import Texts, texts_of

# Least and most numbers in a tile. A tile and its copy should fit a CPU's cache; other devices run faster with
# fewer, larger steps. Small batches get smaller tiles, which would otherwise take most of their memory.
TILE_ELEMENTS = {"cpu": (2**17, 2**18), "elsewhere": (2**24, 2**24)}
FEWEST_TILES = 12
# Rows of a tile. More rows make fewer, larger steps, but r rows compute r (r - 1) / 2 spans below the diagonal in vain.
FEWEST_ROWS, MOST_ROWS = 4, 16
# Texts share tiles as long as the shortest has this part of the longest one's length.
SHORTEST_SHARE = 0.8


class Pack(NamedTuple):
    """Texts of similar length, which share tiles. A text is a segment of an example; slots hold its units."""

    example: Tensor  # [text]
    unit: Tensor  # [text, slot]: index in [batch * unit]; past a text's end its last unit, never a wild value
    legal: Tensor  # [text, slot, slot]: false past a text's end
    tiles: list[tuple[slice, slice]]  # rows and columns, of slots

    def units(self, values: Tensor) -> Tensor:
        """[batch, unit, width] -> [text, slot, width]"""
        return values.flatten(0, 1).index_select(0, self.unit.flatten()).view(*self.unit.shape, -1)

    def add_units(self, values: Tensor, into: Tensor) -> None:
        into.view(-1, into.shape[-1]).index_add_(0, self.unit.flatten(), values.flatten(0, 1))

    def spans(self, values: Tensor, outside: float) -> Tensor:
        """[batch, unit, unit] -> [text, slot, slot], with `outside` where a span is not legal."""
        spans = values.flatten().index_select(0, self._index(values.shape[-1]))
        return spans.view_as(self.legal).masked_fill_(~self.legal, outside)

    def write_spans(self, values: Tensor, into: Tensor) -> None:
        # Slots past a text's end point at its last unit: there minus infinity must not replace a score.
        into.view(-1).scatter_reduce_(0, self._index(into.shape[-1]), values.flatten(), "amax")

    def _index(self, n_units: int) -> Tensor:
        return ((self.unit * n_units)[:, :, None] + (self.unit % n_units)[:, None, :]).flatten()


def packs_of(limits: SpanLimits, width: int) -> list[Pack]:
    """Every text of the batch, without its padding; short texts share tiles with others of their length."""
    segments, max_width, latest_start = limits
    texts = texts_of(segments)
    lengths = texts.lengths.tolist()
    tile_spans = _tile_spans(lengths, width, segments.device.type)
    n_units = segments.shape[1]
    packs = [_pack(texts, some, n_units, max_width, tile_spans) for some in _shared(lengths, tile_spans)]
    return packs if latest_start is None else [_without(pack, latest_start) for pack in packs]


def _without(pack: Pack, latest_start: Tensor) -> Pack:
    """The pack without the spans that begin later than their end allows."""
    n_units = latest_start.shape[1]
    latest = latest_start.flatten()[pack.unit]  # [text, slot]
    return pack._replace(legal=pack.legal & ((pack.unit % n_units)[:, :, None] <= latest[:, None, :]))


def _tile_spans(lengths: list[int], width: int, device: str) -> int:
    least, most = TILE_ELEMENTS.get(device, TILE_ELEMENTS["elsewhere"])
    all_elements = width * sum(length**2 // 2 for length in lengths)
    return min(most, max(least, all_elements // FEWEST_TILES)) // width


def _shared(lengths: list[int], tile_spans: int) -> Iterator[list[int]]:
    """Which texts share a pack; the longest comes first."""
    pack: list[int] = []
    for text in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        longest = lengths[pack[0]] if pack else 0
        full = (len(pack) + 1) * FEWEST_ROWS * longest > tile_spans
        if pack and (full or lengths[text] < SHORTEST_SHARE * longest):
            yield pack
            pack = []
        pack.append(text)
    if pack:
        yield pack


def _pack(texts: Texts, some: list[int], n_units: int, max_width: int | None, tile_spans: int) -> Pack:
    starts, lengths = texts.starts[some], texts.lengths[some]
    n_slots = int(lengths[0])
    slots = torch.arange(n_slots, device=starts.device)
    unit = texts.unit[starts[:, None] + torch.minimum(slots, lengths[:, None] - 1)]
    legal = (slots[:, None] <= slots) & (slots < lengths[:, None])[:, None, :]
    if max_width is not None:
        legal &= unit[:, None, :] - unit[:, :, None] < max_width
    tiles = _tiles_of(len(some), n_slots, max_width, tile_spans)
    return Pack(texts.example[some], unit, legal, tiles)


@lru_cache(64)  # texts of one length are many, and so are the tiles of a long one
def _tiles_of(
    n_texts: int, n_slots: int, max_width: int | None, tile_spans: int
) -> list[tuple[slice, slice]]:
    return list(_tiles(n_texts, n_slots, max_width, tile_spans))


def _tiles(n_texts: int, n_slots: int, max_width: int | None, tile_spans: int) -> Iterator[tuple]:
    """Strips of rows from the diagonal to the last column a span may reach, cut where they outgrow a tile."""
    bottom = 0
    while bottom < n_slots:
        top = bottom
        fitting = tile_spans // (n_texts * (n_slots - top))
        bottom = min(n_slots, top + max(FEWEST_ROWS, min(MOST_ROWS, fitting)))
        end = n_slots if max_width is None else min(n_slots, bottom + max_width - 1)
        step = max(1, tile_spans // (n_texts * (bottom - top)))
        for left in range(top, end, step):
            yield slice(top, bottom), slice(left, min(left + step, end))
