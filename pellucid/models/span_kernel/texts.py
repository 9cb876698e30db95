"""The texts of a batch: which units belong together, also where other positions lie between them."""

from typing import NamedTuple

import torch
from torch import Tensor


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
