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
from pellucid.run.trace import Trace, Want
from pellucid.run.traces import JoinedPart, JoinedParts


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
    ) -> None:
        self.layers, self.tracks, self.want = layers, tracks, want
        self.layer, self.instead = layer, self._at_places(layer, point)
        self.encoder: list[Tensor] = []
        self.decoder: list[Tensor] = []
        above = None if layer is None else layer - layers.n_encoder
        self.source = SourceStates(above if (above or 0) > 0 else None, self.instead[0])
        self.attention = RecordedAttention(want.head_values, oblong=True)

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

    def added_to(self, trace: Trace, count: int) -> Trace:
        """The trace with the parts that the run was asked for; count: units of the longest row."""
        if self.want.hidden:
            trace = replace(trace, hidden=self.hidden(count))
        if self.want.attention:
            trace = replace(trace, attention=self.weights(count), head_values=self.head_values(count))
        return trace

    def hidden(self, count: int) -> Sequence[Tensor]:
        """For each layer that was reached [row unit width]; count: units of the longest row."""
        join = partial(joined_states, self.tracks, count)
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

    def weights(self, count: int) -> Sequence[Tensor]:
        """For each block [row head unit unit]."""
        joined, recorded = JoinedAttention(self.tracks, count), self.attention.weights
        if self.layers.encoder is None:
            return JoinedParts([joined.lone_block(block_weights) for block_weights in recorded])
        read, written = recorded[: self.layers.n_encoder], recorded[self.layers.n_encoder :]
        across = zip(written[::2], written[1::2], strict=True)
        return JoinedParts(
            [joined.encoder_block(block_weights) for block_weights in read]
            + [joined.decoder_block(*two) for two in across]
        )

    def head_values(self, count: int) -> Sequence[Tensor]:
        """For each block [row head unit width]; none where a head's part in a block is not known."""
        joined, recorded = JoinedAttention(self.tracks, count), self.attention.head_values
        if len(recorded) != len(self.attention.weights):
            return ()
        if self.layers.encoder is None:
            return tuple(map(joined.lone_values, recorded))
        read, written = recorded[: self.layers.n_encoder], recorded[self.layers.n_encoder :]
        across = zip(written[::2], written[1::2], strict=True)
        return (*map(joined.encoder_values, read), *(joined.decoder_values(*two) for two in across))


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
