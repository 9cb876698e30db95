"""States and attention weights of both parts of a network, as those of the pieces of a row."""

from collections.abc import Sequence

import torch
from torch import Tensor

from pellucid.core.passes.traces import JoinedPart
from pellucid.models.writing.tracks import Track


def joined_states(tracks: Sequence[Track], count: int, states: Sequence[Tensor]) -> Tensor:
    """For each track [row place width] -> [row unit width] for `count` units; 0 where a row has no such unit."""
    joined = states[0].new_zeros(len(states[0]), count, states[0].shape[-1])
    for track, own in zip(tracks, states, strict=True):
        joined = track.collect(own.to(joined.dtype), joined)
    return joined


class JoinedAttention:
    """Weights of each block between the units of rows; count: units of the longest row.

    In an encoder's block a written piece keeps what it is: it looks at itself with weight 1; and so does a piece of the source in a
    decoder's. A decoder's block looks twice, at what is written and at the source, and each look counts half. So rows sum to 1.
    """

    def __init__(self, tracks: Sequence[Track], count: int) -> None:
        self.places = [track.places_of(count) for track in tracks]

    def encoder_block(self, weights: Tensor) -> JoinedPart:
        """weights: [row head source source]."""
        read, written = self.places
        between = lambda one: _between(one[0], read, read)  # noqa: E731
        return JoinedPart((weights,), lambda one: between(one) + _itself(written, one[0]), between)

    def decoder_block(self, own: Tensor, across: Tensor) -> JoinedPart:
        """own: [row head written written]. across: [row head written source]."""
        read, written = self.places
        both = lambda two: _between(two[0], written, written) + _between(two[1], written, read)  # noqa: E731
        return JoinedPart(
            (own, across),
            lambda two: both(two) / 2 + _itself(read, two[0]),
            lambda two: both(two) * 2,  # a weight is twice what it counts
        )

    def lone_block(self, weights: Tensor) -> JoinedPart:
        """weights: [row head place place], of a language model."""
        (places,) = self.places
        between = lambda one: _between(one[0], places, places)  # noqa: E731
        return JoinedPart((weights,), between, between)

    def lone_values(self, values: Tensor) -> Tensor:
        """[row head place width] -> [row head unit width], of a language model."""
        return _at_units(values, self.places[0])

    def encoder_values(self, values: Tensor) -> Tensor:
        """[row head source width] -> [row head unit width]; a written piece sends itself a vector of length 1, over all heads."""
        joined = _at_units(values, self.places[0])
        joined[..., 0] += (self.places[1] >= 0)[:, None].to(joined) / joined.shape[1]
        return joined

    def decoder_values(self, own: Tensor, across: Tensor) -> Tensor:
        """[row head written width], [row head source width] -> [row head unit width]; twice, since weights count half."""
        read, written = self.places
        return 2 * (_at_units(own, written) + _at_units(across, read))


def _between(weights: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
    """[row head query key] of places -> of units; queries, keys: [row unit], the place of each, -1 for none."""
    rows = weights.gather(2, _index(queries, weights.shape[1], weights.shape[3])) * _is_there(
        queries, weights
    )
    columns = rows.transpose(2, 3)
    there = columns.gather(2, _index(keys, columns.shape[1], columns.shape[3])) * _is_there(keys, weights)
    return there.transpose(2, 3)


def _at_units(values: Tensor, places: Tensor) -> Tensor:
    """[row head place width] -> [row head unit width]."""
    return values.gather(2, _index(places, values.shape[1], values.shape[3])) * _is_there(places, values)


def _index(places: Tensor, heads: int, width: int) -> Tensor:
    return places.clamp_min(0)[:, None, :, None].expand(-1, heads, -1, width)


def _is_there(places: Tensor, like: Tensor) -> Tensor:
    return (places >= 0)[:, None, :, None].to(like)


def _itself(places: Tensor, like: Tensor) -> Tensor:
    """[row 1 unit unit]: 1 where a unit with a place looks at itself."""
    return torch.diag_embed((places >= 0).to(like))[:, None]
