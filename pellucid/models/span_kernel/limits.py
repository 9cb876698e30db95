"""Which spans of a batch exist."""

from typing import NamedTuple

import torch
from torch import Tensor

from pellucid.core.foundation.checks import at_least


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
    cross the gap. latest_start: [batch, unit], for each unit j the last i that a span ending there may begin with (None:
    j itself); see `latest_starts`.
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
    """[batch, unit] bool -> for each unit the last one up to it that has content: a span that begins later has no content.

    An example without any content has all its spans: each unit is its own latest start.
    """
    numbers = torch.arange(content.shape[1], device=content.device).expand(content.shape)
    latest = torch.where(content, numbers, -1).cummax(1).values if content.shape[1] else numbers
    return torch.where(content.any(1, keepdim=True), latest, numbers)
