"""Which texts share tiles, and how their spans are cut into them."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from pellucid.base.checks import at_least

# The texts of a batch: which units belong together, also where other positions lie between them.


class Texts(NamedTuple):
    """A text is one segment of one example. Spans lie within a text."""

    unit: Tensor  # [unit of all texts]: index in [batch * unit], text by text, rising within each
    starts: Tensor  # [text]: where its units start in `unit`
    lengths: Tensor  # [text]
    example: Tensor  # [text]


def texts_of(segments: Tensor) -> Texts:
    """segments: [batch, unit], below 0 where there is no unit."""
    n_units = segments.shape[1]
    flat = segments.flatten()
    unit = (flat >= 0).nonzero()[:, 0]
    if not len(unit):
        return Texts(unit, unit, unit, unit)
    text, order = (unit // n_units * (flat.max().long() + 1) + flat[unit]).sort(stable=True)
    unit = unit[order]
    lengths = text.unique_consecutive(return_counts=True)[1]
    starts = lengths.cumsum(0) - lengths
    return Texts(unit, starts, lengths, unit[starts] // n_units)


class Sums(NamedTuple):
    """Weighted sums of span vectors over parts of examples, each weight divided by the exponential of `highest`."""

    example: Tensor  # [part]
    highest: Tensor  # [part]
    total: Tensor  # [part]: of weights
    weighted: Tensor  # [part, width]

    def joined(self, n_examples: int) -> tuple[Tensor, Tensor]:
        """Log of the sum of weights [batch], weighted mean [batch, width]; minus infinity, 0 for no span.

        Both in float64, whatever was summed: the backward pass takes differences from them.
        """
        highest, total, weighted = (value.double() for value in self[1:])
        peak = highest.new_full((n_examples,), torch.finfo(self.highest.dtype).min)
        peak.scatter_reduce_(0, self.example, highest, "amax")
        share = (highest - peak[self.example]).exp()
        total = torch.zeros_like(peak).index_add_(0, self.example, total * share)
        mean = peak.new_zeros(n_examples, weighted.shape[1])
        mean.index_add_(0, self.example, weighted * share[:, None])
        return peak + total.log(), mean / total.clamp(min=torch.finfo(total.dtype).tiny)[:, None]


# Which spans of a batch exist.


class SpanLimits(NamedTuple):
    """What decides which spans exist; the fields are the arguments of `legal_spans`."""

    segments: Tensor
    max_width: int | None = None
    latest_start: Tensor | None = None

    def to(self, device: torch.device) -> "SpanLimits":
        """The same limits with their tensors on a device."""
        latest = None if self.latest_start is None else self.latest_start.to(device)
        return SpanLimits(self.segments.to(device), self.max_width, latest)


def legal_spans(segments: Tensor, max_width: int | None = None, latest_start: Tensor | None = None) -> Tensor:
    """Which spans exist: bool [batch, unit, unit], true where i <= j, in one segment, and j - i < max_width.

    segments: [batch, unit] whole numbers of at most 32 bits; below 0 where there is no unit (special tokens,
    padding). A number that returns after a gap is the same segment: number each run anew if spans must not
    cross the gap. latest_start: [batch, unit], for each unit j the last i that a span ending there may begin with
    (None: j itself); see `latest_starts`.
    """
    n_units = segments.shape[1]
    band = torch.ones(n_units, n_units, dtype=torch.bool, device=segments.device).triu_()
    if max_width is not None:
        at_least("max_width", max_width, 1)
        band.tril_(max_width - 1)
    starts, ends = (segments.masked_fill(segments < 0, none).int() for none in (-1, -2))  # never equal
    different = starts[:, :, None] ^ ends[:, None, :]  # on a CPU twice as fast as ==
    legal = different.logical_not().logical_and_(band)
    if latest_start is not None:
        rows = torch.arange(n_units, device=segments.device)
        legal &= rows[:, None] <= latest_start.to(segments.device)[:, None, :]
    return legal


def latest_starts(content: Tensor) -> Tensor:
    """[batch, unit] bool -> for each unit the last one up to it that has content: a span that begins later has no
    content.

    An example without any content has all its spans: each unit is its own latest start.
    """
    numbers = torch.arange(content.shape[1], device=content.device).expand(content.shape)
    latest = torch.where(content, numbers, -1).cummax(1).values if content.shape[1] else numbers
    return torch.where(content.any(1, keepdim=True), latest, numbers)


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
def _tiles_of(n_texts: int, n_slots: int, max_width: int | None, tile_spans: int) -> list[tuple[slice, slice]]:
    return list(_tiles(n_texts, n_slots, max_width, tile_spans))


def _tiles(n_texts: int, n_slots: int, max_width: int | None, tile_spans: int) -> Iterator[tuple[Any, ...]]:
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


# What a route of the span kernel offers, and what its backward pass starts from.


class Arriving(NamedTuple):
    """What the backward pass starts from. The weight of a span is exp(log_weights - log_normaliser)."""

    log_weights: Tensor  # [batch, unit, unit], read at legal spans only
    log_normaliser: Tensor  # [batch]
    grad_pooled: Tensor  # [batch, width]
    scoring: "Scoring | None"  # None where the weights are constants


class Scoring(NamedTuple):
    """The way through the scores: the gradient at one is known + weight * (grad_pooled . t + shift)."""

    u: Tensor  # [width]
    known: Tensor  # [batch, unit, unit], read at legal spans only
    shift: Tensor  # [batch]


class Stream(Protocol):
    """One batch's spans, ready to be streamed by one route.

    All tensors of one call have one number type; a, c, p: [batch, unit, width]. Pooled vectors and log-normalisers are
    in float64: in float32 the log-normaliser's last digit would be the sixth of every weight.
    """

    def attend(self, a: Tensor, c: Tensor, p: Tensor, u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """(scores, minus infinity outside the legal spans; pooled vectors; log-normalisers)."""

    def average(self, a: Tensor, c: Tensor, p: Tensor, log_weights: Tensor) -> Tensor:
        """[batch, width]: the sum of span vectors under these weights."""

    def gradients(self, a: Tensor, c: Tensor, p: Tensor, arriving: Arriving) -> tuple[Tensor, ...]:
        """The gradients of a, c, p, and of u where the weights came from scores."""
