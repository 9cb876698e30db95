"""The layers of a network that writes, seen while it reads a short text: its encoder's blocks, if it has one, then its decoder's.

Layers are counted in the order in which blocks run. At layer l of an encoder with L blocks, for l <= L, pieces of the source
have the state that block l left, and written ones the first input of the decoder; above L written pieces have the state that
block l - L of the decoder left, and those of the source the encoder's output as later blocks read it. So whatever comes
later depends on the text through the states of one layer, and shares of a layer add up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from pellucid.models.classifiers.buffer_copies import reading
from pellucid.models.classifiers.recorded_attention import RecordedAttention
from pellucid.models.families.probes import layer_counts
from pellucid.models.families.structure import blocks_in, observed
from pellucid.models.translation.translator_folder import source_spans_of
from pellucid.models.writing.tracks import Form, SourceStates, Track, own_embeddings

NO_BLOCKS = "no list of blocks hands one vector a piece on, block by block"
OWN_STATES = "its decoder's blocks do not read the encoder's states as they are"
WIDTHS = "its encoder and its decoder have states of different widths"
NO_WEIGHTS = "its blocks do not compute one softmax over all pieces for each attention"


@dataclass(frozen=True, eq=False)
class Blocks:
    """The blocks of one part of a network. count: how often they run, together; some networks run a block several times."""

    modules: nn.ModuleList
    count: int


@dataclass(frozen=True, eq=False)
class Layers:
    """The blocks of both parts. encoder: None for a language model. lacks: capability -> why it is missing."""

    encoder: Blocks | None
    decoder: Blocks | None
    lacks: Mapping[str, str]

    @property
    def n_encoder(self) -> int:
        """How many layers are the encoder's."""
        return 0 if self.encoder is None else self.encoder.count

    @property
    def n_decoder(self) -> int:
        """How many layers are the decoder's."""
        return 0 if self.decoder is None else self.decoder.count


def readers_of_source(network: Any, decoder: Blocks) -> list[nn.Module]:  # Any: see `WritingModel`
    """What reads the encoder's states, in the order in which it runs: the decoder's blocks, and the layer of source spans."""
    spans = source_spans_of(network)
    return [*decoder.modules, *([] if spans is None else [spans])]


def layers_of(network: Any, form: Form, tracks: Sequence[Track]) -> Layers:  # Any: see `WritingModel`
    """The layers that a trial shows; tracks: of one row, with more places that are read than places that write."""
    *source, written = (track.ids.shape[1] for track in tracks)
    counts = frozenset() if source else frozenset(layer_counts(network.config))
    with reading(network), torch.no_grad():
        with observed(network) as record, RecordedAttention(oblong=True) as attention:
            form.logits(tracks, own_embeddings)
        parts = [network.get_encoder(), network.get_decoder()] if source else [network]
        lengths = [*source, written]
        blocks = [
            Blocks(*modules)
            for part, length in zip(parts, lengths, strict=True)
            if (modules := blocks_in(part, record, length, counts)) is not None
        ]
        if len(blocks) < len(parts):
            return Layers(None, None, {"hidden_states": NO_BLOCKS, "attention": NO_WEIGHTS})
        layers = Layers(blocks[0] if source else None, blocks[-1], {})
        why = _why_no_states(network, form, tracks, layers)
    lacks = {"hidden_states": why} if why else {}
    if why or [tuple(one.shape[-2:]) for one in attention.weights] != _shapes(layers, lengths):
        lacks["attention"] = NO_WEIGHTS
    return Layers(layers.encoder, layers.decoder, lacks)


def _shapes(layers: Layers, lengths: Sequence[int]) -> list[tuple[int, int]]:
    """Queries and keys of every attention, in the order in which they run: in a decoder's block its own words, then the source."""
    written, read = lengths[-1], lengths[0]
    own = (written, written)
    if layers.encoder is None:
        return [own] * layers.n_decoder
    return [(read, read)] * layers.n_encoder + [own, (written, read)] * layers.n_decoder


def _why_no_states(
    network: Any, form: Form, tracks: Sequence[Track], layers: Layers
) -> str:  # Any: see above
    """Why states of both parts cannot be read as layers of one network; empty where they can."""
    if layers.encoder is None or layers.decoder is None:
        return ""
    states = SourceStates()
    with states.recorded(network.get_encoder(), readers_of_source(network, layers.decoder)):
        form.logits(tracks, own_embeddings)
    if len(states.read) < layers.n_decoder:
        return OWN_STATES
    return "" if _width(layers.encoder) == _width(layers.decoder) else WIDTHS


def _width(blocks: Blocks) -> int:
    """Of its states, by the first vector of weights in a block: a norm's."""
    vectors: list[Tensor] = [weight for weight in blocks.modules.parameters() if weight.ndim == 1]
    return len(vectors[0]) if vectors else 0
