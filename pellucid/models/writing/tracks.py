"""The layers of a network that writes, seen while it reads a short text: its encoder's blocks, if it has one, then its
decoder's.

Layers are counted in the order in which blocks run. At layer l of an encoder with L blocks, for l <= L, pieces of the
source have the state that block l left, and written ones the first input of the decoder; above L written pieces have
the state that block l - L of the decoder left, and those of the source the encoder's output as later blocks read it. So
whatever comes later depends on the text through the states of one layer, and shares of a layer add up.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from pellucid.models.classifiers.buffer_copies import reading
from pellucid.models.classifiers.network_layers import RecordedAttention
from pellucid.models.families.probes import layer_counts
from pellucid.models.families.structure import Observation, blocks_in, observed
from pellucid.models.translation.translator_folder import source_spans_of
from pellucid.run.batch import Row
from pellucid.run.module_hooks import hook_input, hook_output
from pellucid.text.example import Example
from pellucid.text.units import Units

# Tracks: the pieces of rows that one part of a network reads, the encoder or the decoder, as columns.
#
# A row names all pieces, those that are read and those that are written; a track says at which place of which part
# each stands. Nobody reads the place of an absent piece, and nothing is written from it: what comes next is written
# from the state of the last piece that is left.

NO_PIECE = -1
# row -> (place, number of the piece in the row), in order; NO_PIECE where a blank is read in place of a text.
Places = Callable[[Row], list[tuple[int, int]]]
WRITTEN = 1  # the token type of a row's pieces that are written


@dataclass(frozen=True)
class Track:
    """Columns [row place], padded on the right. ids: what is read. attended: 1 where other places may read it. pieces:
    the number of the piece in its row, -1 where there is none. padding: whether the place is behind the row's last one;
    places of absent pieces are not."""

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


def track(rows: Sequence[Row], places: Places, blank: int, device: torch.device) -> Track:
    """The columns of rows. blank: the id of places without a piece; it is read where a row has no piece at all."""
    of_rows = [places(row) or [(0, NO_PIECE)] for row in rows]
    lengths = torch.tensor([of_row[-1][0] + 1 for of_row in of_rows])
    shape = (len(rows), int(lengths.max()))
    ids, pieces, attended = torch.full(shape, blank), torch.full(shape, NO_PIECE), torch.zeros(shape, dtype=torch.long)
    for index, (row, of_row) in enumerate(zip(rows, of_rows, strict=True)):
        there, numbers = torch.tensor(of_row).unbind(1)
        own_ids = torch.tensor((*row.ids, blank))  # NO_PIECE is the number of the last one
        ids[index, there], pieces[index, there], attended[index, there] = own_ids[numbers], numbers, 1
    padding = torch.arange(shape[1]) >= lengths[:, None]
    return Track(ids.to(device), attended.to(device), pieces.to(device), padding.to(device))


def writing_places(rows: Sequence[Row], places: Places, device: torch.device) -> tuple[Tensor, Tensor]:
    """[row piece]: the ids that are to be written, -1 in padding, and the place that writes each: that of the last
    piece that is left before it.

    places: of the track that writes.
    """
    written = []
    for row in rows:
        read = places(row)
        numbers = [NO_PIECE if piece == NO_PIECE else row.own_numbers[piece] for _, piece in read]
        pieces = [(id, bisect_left(numbers, piece) - 1) for piece, id in enumerate(row.written) if id >= 0]
        written.append([(id, read[before][0]) for id, before in pieces])
    longest = max(map(len, written))
    filled = [[*of_row, *[(NO_PIECE, 0)] * (longest - len(of_row))] for of_row in written]
    both = torch.tensor(filled, device=device)
    return both[..., 0], both[..., 1]


# What differs between kinds of models that write: how a text and its continuation become a row, and how rows run.

Reading = Callable[[int], AbstractContextManager[Any]]  # the number of a track -> the context in which it is looked up


def own_embeddings(track: int) -> AbstractContextManager[Any]:
    """The `Reading` in which the network reads its own word embeddings."""
    return nullcontext()


class Form(Protocol):
    """Encoder and decoder, or a decoder alone."""

    @property
    def embeddings(self) -> tuple[nn.Module, ...]:
        """For each track the module that turns ids into word embeddings."""
        ...

    def encode(self, example: Example) -> tuple[Row, Units]:
        """The row of a text and what is to be written after it."""
        ...

    def excess(self, example: Example) -> int:
        """How many places more than the model has its row would take where it writes; 0 or less where it fits."""
        ...

    def tracks(self, rows: Sequence[Row], device: torch.device) -> tuple[Track, ...]:
        """What each part of the network reads; the last track is the one that writes."""
        ...

    def places(self, row: Row) -> list[tuple[int, int]]:
        """What the last track reads, the one that writes; see `Places`."""
        ...

    def logits(self, tracks: Sequence[Track], reading: Reading) -> Tensor:
        """[row place id] of the last track, or of the places that its head was asked for."""
        ...

    def plain_logits(self, example: Example, device: torch.device, first: int) -> Tensor:
        """[place id]: the user's own call, from place `first` on; place k says the piece at place k + 1."""
        ...


# The encoder's states as each block of a decoder reads them: nodes of the graph, one after another.
#
# The gradient by the node before a block is that of this block and of those after it. The blocks before it have a
# share of their own in the decoder's states, which would otherwise count twice.


@dataclass
class SourceStates:
    """block: from this reader on, `instead` [row place width] is read in place of the encoder's states; the first
    reader is 0.

    read: what each reader read, filled while the network runs.
    """

    block: int | None = None
    instead: Tensor | None = None
    read: list[Tensor] = field(default_factory=list)

    @contextmanager
    def recorded(self, encoder: nn.Module, readers: Sequence[nn.Module]) -> Iterator[None]:
        """The states are handed on from reader to reader inside."""
        encoded: list[Tensor] = []

        def remember(_: nn.Module, __: tuple[Any, ...], output: tuple[Any, ...]) -> None:
            encoded[:] = [output[0]]

        def hand_on(
            _: nn.Module, args: tuple[Any, ...], kwargs: dict[str, object]
        ) -> tuple[tuple[Any, ...], dict[Any, Any]] | None:
            if not encoded or not any(value is encoded[0] for value in (*args, *kwargs.values())):
                return None
            state = self.hand_on(encoded[0])
            exchanged = lambda value: state if value is encoded[0] else value  # noqa: E731
            return tuple(map(exchanged, args)), {name: exchanged(value) for name, value in kwargs.items()}

        with ExitStack() as stack:
            stack.callback(hook_output(encoder, remember))
            for reader in readers:
                stack.callback(hook_input(reader, hand_on, with_kwargs=True))
            yield

    def hand_on(self, states: Tensor) -> Tensor:
        """What the next reader reads; states: the encoder's states."""
        if self.instead is not None and len(self.read) == self.block:
            state = self.instead
        else:
            state = self.read[-1].view_as(states) if self.read else states
        self.read.append(state)
        return state

    def after(self, block: int) -> Tensor:
        """The states as they are read after so many readers; nobody may read them then."""
        while len(self.read) <= block:
            self.hand_on(self.read[-1])
        return self.read[block]


NO_BLOCKS = "no list of blocks hands one vector a piece on, block by block"
OWN_STATES = "its decoder's blocks do not read the encoder's states as they are"
WIDTHS = "its encoder and its decoder have states of different widths"
NO_WEIGHTS = "its blocks do not compute one softmax over all pieces for each attention"


@dataclass(frozen=True, eq=False)
class Blocks:
    """The blocks of one part of a network. count: how often they run, together; some networks run a block several
    times. width: of the states that they hand on.
    """

    modules: nn.ModuleList
    count: int
    width: int


@dataclass(frozen=True, eq=False)
class Layers:
    """The blocks of both parts. encoder: None for a language model. lacks: capability -> why it is missing."""

    encoder: Blocks | None
    decoder: Blocks | None
    lacks: Mapping[str, str]

    @property
    def every_block(self) -> list[nn.Module]:
        """The blocks of both parts."""
        return [block for part in (self.encoder, self.decoder) if part is not None for block in part.modules]

    @property
    def n_encoder(self) -> int:
        """How many layers are the encoder's."""
        return 0 if self.encoder is None else self.encoder.count

    @property
    def n_decoder(self) -> int:
        """How many layers are the decoder's."""
        return 0 if self.decoder is None else self.decoder.count


def readers_of_source(network: Any, decoder: Blocks) -> list[nn.Module]:  # Any: see `WritingModel`
    """What reads the encoder's states, in the order in which it runs: the decoder's blocks, and the layer of source
    spans.
    """
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
            Blocks(*modules, _width(record, modules[0]))
            for part, length in zip(parts, lengths, strict=True)
            if (modules := blocks_in(part, record, length, counts)) is not None
        ]
        if len(blocks) < len(parts):
            return Layers(None, None, {"hidden_states": NO_BLOCKS, "attention": NO_WEIGHTS})
        layers = Layers(blocks[0] if source else None, blocks[-1], {})
        why = _why_no_states(network, form, tracks, layers)
    lacks = {"hidden_states": why} if why else {}
    if why or [tuple(weight.shape[-2:]) for weight in attention.weights] != _shapes(layers, lengths):
        lacks["attention"] = NO_WEIGHTS
    return Layers(layers.encoder, layers.decoder, lacks)


def _shapes(layers: Layers, lengths: Sequence[int]) -> list[tuple[int, int]]:
    """Queries and keys of every attention, in the order in which they run: in a decoder's block its own words, then the
    source.
    """
    written, read = lengths[-1], lengths[0]
    within = (written, written)
    if layers.encoder is None:
        return [within] * layers.n_decoder
    return [(read, read)] * layers.n_encoder + [within, (written, read)] * layers.n_decoder


def _why_no_states(network: Any, form: Form, tracks: Sequence[Track], layers: Layers) -> str:  # Any: see above
    """Why states of both parts cannot be read as layers of one network; empty where they can."""
    if layers.encoder is None or layers.decoder is None:
        return ""
    states = SourceStates()
    with states.recorded(network.get_encoder(), readers_of_source(network, layers.decoder)):
        form.logits(tracks, own_embeddings)
    if len(states.read) < layers.n_decoder:
        return OWN_STATES
    return "" if layers.encoder.width == layers.decoder.width else WIDTHS


def _width(record: Observation, blocks: nn.ModuleList) -> int:
    left = record.steps[blocks][0][1]
    return 0 if left is None else left.shape[-1]
