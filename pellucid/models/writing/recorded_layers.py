"""What one run of a network that writes shows of its layers: states and attention weights of both parts, joined by
piece.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from pellucid.models.classifiers.hooks import hidden_states
from pellucid.models.classifiers.network_layers import RecordedAttention
from pellucid.models.writing.tracks import Layers, SourceStates, Track, readers_of_source
from pellucid.run.trace import KeepBlocks, Trace, Want, every_block
from pellucid.run.traces import Join, JoinedPart, JoinedParts


class RecordedLayers:
    """layer, point: the states [row unit width] that the network reads as those of this layer; None: its own. See
    `layers.py`.
    """

    def __init__(
        self,
        layers: Layers,
        tracks: Sequence[Track],
        want: Want,
        layer: int | None = None,
        point: Tensor | None = None,
        *,
        count: int,
    ) -> None:
        self.layers, self.tracks, self.want, self.count = layers, tracks, want, count
        self.layer, self.instead = layer, self._at_places(layer, point)
        self.encoder: list[Tensor] = []
        self.decoder: list[Tensor] = []
        above = None if layer is None else layer - layers.n_encoder
        self.source = SourceStates(above if (above or 0) > 0 else None, self.instead[0])
        self.joined = JoinedAttention(tracks, count)
        self.attention = RecordedAttention(
            want.head_values,
            oblong=True,
            keep=self._keep(self.joined.joined_weights),
            keep_values=self._keep(self.joined.values_of),
        )

    def _keep(self, join: Join) -> KeepBlocks:
        """What is kept of the looks of blocks; all of them are joined when they are read."""
        keep = self.want.keep
        return keep if keep is every_block else FoldedBlocks(keep, self.layers.n_encoder, join)

    def _at_places(self, layer: int | None, point: Tensor | None) -> list[Tensor | None]:
        """For each track the states that are read instead of its own, leaves of the graph; 0 where there is no
        piece.
        """
        if layer is None or point is None:
            return [None] * len(self.tracks)
        spares = [point.new_zeros(*track.ids.shape, point.shape[-1]) for track in self.tracks]
        return [
            track.at_places(point, spare).detach().requires_grad_(torch.is_grad_enabled())
            for track, spare in zip(self.tracks, spares, strict=True)
        ]

    def contexts(self, network: Any) -> Iterator[AbstractContextManager[Any]]:  # Any: see `WritingModel`
        """What is active during the run."""
        layers, layer, deepest = self.layers, self.layer, self.want.deepest
        if (self.want.hidden or layer is not None) and layers.decoder is not None:
            if layers.encoder is not None:
                below = layer if layer is not None and layer <= layers.n_encoder else None
                yield hidden_states(
                    layers.encoder.modules,
                    self.encoder,
                    layer=below,
                    instead=None if below is None else self.instead[0],
                )
                yield self.source.recorded(network.get_encoder(), readers_of_source(network, layers.decoder))
            yield hidden_states(
                layers.decoder.modules,
                self.decoder,
                deepest=None if deepest is None else max(deepest - layers.n_encoder, 0),
                layer=None if layer is None else max(layer - layers.n_encoder, 0),
                instead=self.instead[-1],
            )
        if self.want.attention:
            yield self.attention

    def added_to(self, trace: Trace) -> Trace:
        """The trace with the parts that the run was asked for."""
        if self.want.hidden:
            trace = replace(trace, hidden=self.hidden())
        if self.want.attention:
            trace = replace(trace, attention=self.weights(), head_values=self.head_values())
        return trace

    def hidden(self) -> Sequence[Tensor]:
        """For each layer that was reached [row unit width]."""
        join = partial(joined_states, self.tracks, self.count)
        return JoinedParts([JoinedPart(states, join, join) for states in self._states()])

    def _states(self) -> list[tuple[Tensor, ...]]:
        """For each layer its states, one tensor a track."""
        if self.layers.encoder is None:
            return [(state,) for state in self.decoder]
        if not self.decoder:
            return []
        first, *later = self.decoder
        lower: list[tuple[Tensor, ...]] = [(state, first) for state in self.encoder]
        return lower + [(self.source.after(block), state) for block, state in enumerate(later, start=1)]

    def weights(self) -> Sequence[Tensor]:
        """What is kept of the blocks' weights [row head unit unit]."""
        if self.want.keep is not every_block:
            return self.attention.weights
        return JoinedParts([self.joined.weights_of(looks) for looks in self._blocks(self.attention.weights)])

    def head_values(self) -> Sequence[Tensor]:
        """What is kept of the blocks' head values [row head unit width]; none where those of a block are not known."""
        if self.want.keep is not every_block:
            return self.attention.head_values
        return tuple(self.joined.values_of(looks) for looks in self._blocks(self.attention.head_values))

    def _blocks(self, looks: Sequence[Tensor]) -> list[Sequence[Tensor]]:
        """One of each block; a decoder's block that reads a source looks twice."""
        n_encoder = self.layers.n_encoder
        read, written = looks[:n_encoder], looks[n_encoder:]
        step = 2 if n_encoder else 1
        return [(look,) for look in read] + [written[at : at + step] for at in range(0, len(written), step)]


class FoldedBlocks:
    """Keeps of the blocks what `keep` makes of them, each joined when its last look has been recorded.

    A look is one attention's weights or head values; a decoder's block that reads a source has two. join: all looks of
    a block -> the block.
    """

    def __init__(self, keep: KeepBlocks, n_encoder: int, join: Join) -> None:
        self.keep, self.n_encoder, self.join = keep, n_encoder, join
        self.looks: list[Tensor] = []
        self.n_blocks = 0

    def __call__(self, below: Sequence[Tensor], look: Tensor) -> Sequence[Tensor]:
        """What is kept with this look."""
        self.looks.append(look)
        if self.n_encoder and self.n_blocks >= self.n_encoder and len(self.looks) < 2:
            return below
        block, self.looks, self.n_blocks = self.join(self.looks), [], self.n_blocks + 1
        return self.keep(below, block)


# States and attention weights of both parts of a network, as those of the pieces of a row.


def joined_states(tracks: Sequence[Track], count: int, states: Sequence[Tensor]) -> Tensor:
    """For each track [row place width] -> [row unit width] for `count` units; 0 where a row has no such unit."""
    joined = states[0].new_zeros(len(states[0]), count, states[0].shape[-1])
    for track, state in zip(tracks, states, strict=True):
        joined = track.collect(state.to(joined.dtype), joined)
    return joined


class JoinedAttention:
    """Weights of each block between the units of rows; count: units of the longest row.

    In an encoder's block a written piece keeps what it is: it looks at itself with weight 1; and so does a piece of the
    source in a decoder's. A decoder's block looks twice, at what is written and at the source, and each look counts
    half. So rows sum to 1.
    """

    def __init__(self, tracks: Sequence[Track], count: int) -> None:
        self.places = [track.places_of(count) for track in tracks]

    def weights_of(self, looks: Sequence[Tensor]) -> JoinedPart:
        """looks: the weights of each attention of a block, in the order in which they run."""
        if len(self.places) == 1:
            return self.lone_block(*looks)
        return self.encoder_block(*looks) if len(looks) == 1 else self.decoder_block(*looks)

    def joined_weights(self, looks: Sequence[Tensor]) -> Tensor:
        """The same, put together: [row head unit unit]."""
        part = self.weights_of(looks)
        return part.value(part.tensors)

    def values_of(self, looks: Sequence[Tensor]) -> Tensor:
        """looks: the head values of each attention of a block."""
        if len(self.places) == 1:
            return self.lone_values(*looks)
        return self.encoder_values(*looks) if len(looks) == 1 else self.decoder_values(*looks)

    def encoder_block(self, weights: Tensor) -> JoinedPart:
        """weights: [row head source source]."""
        read, written = self.places
        between = lambda recorded: _between(recorded[0], read, read)  # noqa: E731
        return JoinedPart((weights,), lambda recorded: between(recorded) + _itself(written, recorded[0]), between)

    def decoder_block(self, within: Tensor, across: Tensor) -> JoinedPart:
        """within: [row head written written]. across: [row head written source]."""
        read, written = self.places
        both = lambda recorded: _between(recorded[0], written, written) + _between(recorded[1], written, read)  # noqa: E731
        return JoinedPart(
            (within, across),
            lambda recorded: both(recorded) / 2 + _itself(read, recorded[0]),
            lambda recorded: both(recorded) * 2,  # a weight is twice what it counts
        )

    def lone_block(self, weights: Tensor) -> JoinedPart:
        """weights: [row head place place], of a language model."""
        (places,) = self.places
        between = lambda recorded: _between(recorded[0], places, places)  # noqa: E731
        return JoinedPart((weights,), between, between)

    def lone_values(self, values: Tensor) -> Tensor:
        """[row head place width] -> [row head unit width], of a language model."""
        return _at_units(values, self.places[0])

    def encoder_values(self, values: Tensor) -> Tensor:
        """[row head source width] -> [row head unit width]; a written piece sends itself a vector of length 1, over all
        heads.
        """
        joined = _at_units(values, self.places[0])
        joined[..., 0] += (self.places[1] >= 0)[:, None].to(joined) / joined.shape[1]
        return joined

    def decoder_values(self, within: Tensor, across: Tensor) -> Tensor:
        """[row head written width], [row head source width] -> [row head unit width]; twice, since weights count
        half.
        """
        read, written = self.places
        return 2 * (_at_units(within, written) + _at_units(across, read))


def _between(weights: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
    """[row head query key] of places -> of units; queries, keys: [row unit], the place of each, -1 for none."""
    rows = weights.gather(2, _index(queries, weights.shape[1], weights.shape[3])) * _is_there(queries, weights)
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
