"""What one run of a network that writes shows of its layers: states and attention weights of both parts, joined by piece."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from pellucid.core.passes.trace import Trace, Want
from pellucid.core.passes.traces import JoinedPart, JoinedParts
from pellucid.models.classifiers.hooks import hidden_states
from pellucid.models.classifiers.recorded_attention import RecordedAttention
from pellucid.models.writing.encoder_states import SourceStates
from pellucid.models.writing.joining import JoinedAttention, joined_states
from pellucid.models.writing.layers import Layers, readers_of_source
from pellucid.models.writing.tracks import Track


class RecordedLayers:
    """layer, point: the states [row unit width] that the network reads as those of this layer; None: its own. See `layers.py`."""

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
        """For each track the states that are read instead of its own, leaves of the graph; 0 where there is no piece."""
        if layer is None or point is None:
            return [None] * len(self.tracks)
        spares = [point.new_zeros(*track.ids.shape, point.shape[-1]) for track in self.tracks]
        return [
            track.at_places(point, spare).detach().requires_grad_(torch.is_grad_enabled())
            for track, spare in zip(self.tracks, spares, strict=True)
        ]

    def contexts(self, network: Any) -> Iterator[AbstractContextManager]:  # Any: see `WritingModel`
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
            return JoinedParts([joined.lone_block(one) for one in recorded])
        read, written = recorded[: self.layers.n_encoder], recorded[self.layers.n_encoder :]
        across = zip(written[::2], written[1::2], strict=True)
        return JoinedParts(
            [joined.encoder_block(one) for one in read] + [joined.decoder_block(*two) for two in across]
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
