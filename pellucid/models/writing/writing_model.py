"""A model that writes, as the rooms see it: one pass over a text and its continuation, every written piece after those
before.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from pellucid.base.errors import ModelCannot
from pellucid.base.packages import cached_property
from pellucid.models.classifiers.buffer_copies import reading, shared_numbers, undisturbed
from pellucid.models.classifiers.hooks import Enough, at_places, head_at, output_through, wide_after
from pellucid.models.classifiers.in_memory import network_digest
from pellucid.models.classifiers.tokens import Tokenizer
from pellucid.models.families.probes import computing_config, device_of
from pellucid.models.translation.translator_folder import source_spans_of, span_readings
from pellucid.models.writing.recomputed_blocks import recomputed
from pellucid.models.writing.recorded_layers import RecordedLayers
from pellucid.models.writing.shared_beginnings import SharedBeginnings, keeps_keys, same_answers
from pellucid.models.writing.tokenizing import recorded_product, written_spans
from pellucid.models.writing.tracks import Form, Layers, Track, layers_of, own_embeddings, writing_places
from pellucid.run.batch import Batch, Row, SpecialIds
from pellucid.run.model import WRITING, Packing, Parts
from pellucid.run.rounding import Rounding
from pellucid.run.target import Problem
from pellucid.run.trace import NOTHING, Trace, Want, WrittenTrace
from pellucid.text.example import Example

TRIAL = Example(("a b c d e f", "a b"), id="trial")  # a network's layers are seen while it reads this


@dataclass(frozen=True, eq=False, repr=False)
class WritingModel:
    """A translator or language model with its tokenizer; implements `core.Model`.

    An example is a pair: the text that is read, and the one that is written after it. The model's answer is one number,
    the log-probability of the second text, the sum over its pieces; `pellucid.Word` explains its words. name: what
    results call it. trained_texts: digests of the pairs it was made with, where they are known (`text/example.py`).
    """

    network: Any  # an nn.Module; Any because its configuration and parts differ by family
    tokenizer: Tokenizer
    form: Form
    name: str
    trained_texts: frozenset[str] = field(default=frozenset(), repr=False)
    packings: dict[int, Packing] = field(default_factory=dict, init=False, repr=False)  # filled by trials
    beginnings: dict[tuple[int, bool], bool] = field(default_factory=dict, init=False, repr=False)  # filled by trials
    roundings: dict[tuple[object, ...], Rounding] = field(default_factory=dict, init=False, repr=False)
    labels: ClassVar[tuple[str, ...]] = ("log-probability of the text",)
    problem: ClassVar[Problem] = "regression"
    state_parts: ClassVar[Mapping[int, Parts]] = {}
    language_head: ClassVar[None] = None
    unpadded: ClassVar[Packing] = "equal"

    def __repr__(self) -> str:
        return f"<WritingModel {self.name}>"

    @property
    def capabilities(self) -> frozenset[str]:
        """Gradients; states and attention weights where blocks show them; span weights where the decoder reads source
        spans.
        """
        shown = {"gradient", WRITING} | ({"hidden_states", "attention"} - self.layers.lacks.keys())
        return frozenset(shown if source_spans_of(self.network) is None else shown | {"span_weights"})

    @cached_property
    def layers(self) -> Layers:
        """The blocks of the network, seen while it reads one short text."""
        (row,) = self.encode([TRIAL]).rows
        return layers_of(self.network, self.form, self.form.tracks([row], self.device))

    @property
    def n_layers(self) -> int:
        """Blocks of the encoder and of the decoder, each as often as it runs."""
        return self.layers.n_encoder + self.layers.n_decoder

    @property
    def n_encoder(self) -> int:
        """Blocks of the encoder alone."""
        return self.layers.n_encoder

    @property
    def has_encoder(self) -> bool:
        """Whether one part reads and another one writes, as in translators."""
        return bool(self.network.config.is_encoder_decoder)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return device_of(self.network)

    @property
    def hash(self) -> str:
        """A digest of weights, configuration and tokenizer."""
        contents = getattr(self.tokenizer, "contents", None) or self.tokenizer.backend_tokenizer.to_str()
        language = getattr(self.tokenizer, "tgt_lang", None)
        parts = [computing_config(self.network.config), contents, *([] if language is None else [language])]
        return network_digest(self.network, parts)

    def blank_ids(self) -> dict[str, int | None]:
        """Ids of the pad and mask tokens; the token that ends texts stands for a missing pad token."""
        pad = self.tokenizer.pad_token_id
        return {
            "pad": self.tokenizer.eos_token_id if pad is None else pad,
            "mask": self.tokenizer.mask_token_id,
        }

    @cached_property
    def vocabulary(self) -> Tensor:
        """[piece]: the ids that texts are made of, without special tokens."""
        special = set(self.tokenizer.all_special_ids)
        return torch.tensor([id for id in sorted(self.tokenizer.get_vocab().values()) if id not in special])

    def embed(self, ids: Tensor) -> Tensor:
        """The word embeddings of ids, as the part that reads the source has them."""
        with torch.no_grad():
            return self.form.embeddings[0](ids)

    def encode(self, examples: Sequence[Example]) -> Batch:
        """One row a pair; nothing is cut. Raises `BadInput` for one text, or for one that is too long."""
        pairs = [self.form.encode(example) for example in examples]
        rows, units = tuple(row for row, _ in pairs), tuple(unit for _, unit in pairs)
        return Batch(tuple(examples), rows, units, SpecialIds(**self.blank_ids()))

    def trace(
        self,
        rows: Sequence[Row],
        want: Want = NOTHING,
        embeddings: Tensor | None = None,
        layer: int | None = None,
    ) -> Trace:
        """Run rows, padded together; embeddings [example unit width] replace the word embeddings, or a layer's
        states.
        """
        rows = self.as_read(rows)
        run = lambda: self._trace_once(rows, want, embeddings, layer)  # noqa: E731
        return undisturbed(self.network, self.name, run, shared_numbers)

    def as_read(self, rows: Sequence[Row]) -> Sequence[Row]:
        """The rows; without their gaps where the network would read what stands there."""
        has_gaps = any(row.extent > len(row) for row in rows)
        return [row.closed() for row in rows] if has_gaps and not self._leaves_out else rows

    @cached_property
    def _leaves_out(self) -> bool:
        """Whether a piece behind the attention mask is not read, by a trial; RWKV, for one, reads it all the same."""
        (row,) = self.encode([TRIAL]).rows
        segments = np.array(row.segments)
        read, written = np.flatnonzero(segments == 0), np.flatnonzero(segments == 1)
        absent = {*read[0:3:2].tolist(), *written[:1].tolist()}
        tracks = self.form.tracks([row.keep(sorted({*range(len(row))} - absent))], self.device)
        others = [replace(track, ids=track.ids.where(track.attended == 1, row.ids[read[0]])) for track in tracks]
        there = tracks[-1].attended[0] == 1
        try:
            with reading(self.network), torch.no_grad():
                answers = [self.form.logits(each, own_embeddings)[0, there] for each in (tracks, others)]
        except Exception:  # a network may take no text with gaps
            return False
        return same_answers(self, *answers)

    def in_turn(self, want: Want) -> SharedBeginnings | None:
        """What runs edited rows one after another; None where the network cannot go on from a row's beginning, or more
        is wanted than what it writes.
        """
        plain = replace(want, wide_head=False) == NOTHING
        return SharedBeginnings(self, want) if plain and self._keeps_keys else None

    @cached_property
    def _keeps_keys(self) -> bool:
        return self.head is not None and keeps_keys(self.network)

    def _trace_once(self, rows: Sequence[Row], want: Want, embeddings: Tensor | None, layer: int | None) -> Trace:
        tracks, count = self.form.tracks(rows, self.device), max(1, *map(len, rows))
        ids, places = writing_places(rows, self.form.places, self.device)
        words = embeddings if layer is None else None
        with ExitStack() as stack:
            stack.enter_context(torch.enable_grad() if want.gradients else nullcontext())
            looked_up = self._looked_up(tracks)
            read = self._read(rows, tracks, looked_up) if words is None else words.to(looked_up[0])
            if want.gradients:
                read = read.detach().requires_grad_()
            recorded = self._recorded(tracks, want, layer, embeddings, count)
            for context in () if recorded is None else recorded.contexts(self.network):
                stack.enter_context(context)
            under = nullcontext if want.under is None else partial(want.under, self.network)
            if want.gradients and not want.attention:
                n_places = sum(track.ids.numel() for track in tracks)
                stack.enter_context(recomputed(self.layers.every_block, n_places, under))
            stack.enter_context(under())
            products = stack.enter_context(recorded_product(self.head))
            stack.enter_context(head_at(self.head, places))
            read_spans = stack.enter_context(span_readings(self.network))
            if want.wide_head and self.layers.decoder is not None:
                stack.enter_context(wide_after(self.layers.decoder.modules, self.layers.decoder.count))
            reading = self._reading(tracks, looked_up, read, words is not None)
            try:
                logits = self.form.logits(tracks, reading)
            except Enough:
                assert recorded is not None  # it was asked to stop
                return Trace(read.new_zeros(len(rows), 0), read, recorded.hidden())
        if logits.shape[1] != places.shape[1]:
            logits = at_places(logits, places)
        spans = None
        if read_spans and not want.gradients:
            spans = written_spans(self.network, read_spans[0], tracks[0].pieces, places)
        plain = want.gradients and want.under is None and len(products) == 1
        written = WrittenTrace(logits, ids, spans, products[0] if plain else None)
        trace = Trace(written.log_probabilities(ids).sum(-1, keepdim=True), read, written=written)
        return trace if recorded is None else recorded.added_to(trace)

    def _recorded(
        self, tracks: Sequence[Track], want: Want, layer: int | None, states: Tensor | None, count: int
    ) -> RecordedLayers | None:
        """What records layers, where a run is asked for any; states [row unit width]: read as those of a layer.

        count: units of the longest row.
        """
        shown = self.capabilities
        hidden, attention = want.hidden and "hidden_states" in shown, want.attention and "attention" in shown
        if not (hidden or attention or layer is not None):
            return None
        point = None if layer is None else states
        want = replace(want, hidden=hidden, attention=attention)
        return RecordedLayers(self.layers, tracks, want, layer, point, count=count)

    @property
    def head(self) -> nn.Module | None:
        """What turns states into numbers for the vocabulary."""
        head = self.network.get_output_embeddings()
        is_input = any(head is module for module in self.form.embeddings)  # FSMT's: it looks ids up
        return head if isinstance(head, nn.Module) and not is_input else None

    def _looked_up(self, tracks: Sequence[Track]) -> list[Tensor]:
        """For each track [row place width]: the network's own word embeddings."""
        with torch.no_grad():
            return [module(track.ids) for module, track in zip(self.form.embeddings, tracks, strict=True)]

    def _read(self, rows: Sequence[Row], tracks: Sequence[Track], looked_up: Sequence[Tensor]) -> Tensor:
        """[row unit width]: the word embeddings of each row's pieces, those of all parts in one tensor."""
        if len({vectors.shape[-1] for vectors in looked_up}) > 1:
            raise ModelCannot(f"{self.name} reads source and target by vectors of different widths.")
        embeddings = looked_up[0].new_zeros(len(rows), max(1, *map(len, rows)), looked_up[0].shape[-1])
        for track, vectors in zip(tracks, looked_up, strict=True):
            embeddings = track.collect(vectors, embeddings)
        return embeddings

    def _reading(
        self, tracks: Sequence[Track], looked_up: Sequence[Tensor], read: Tensor, replaced: bool
    ) -> Callable[[int], AbstractContextManager[Any]]:
        """For each track the context in which it is looked up: the network reads `read` instead of its own embeddings.

        replaced: `read` is no text of the network's; what it has beyond a row's pieces then stands in the padding, by
        which a trial sees whether padding is read.
        """

        @contextmanager
        def reading(track_index: int) -> Iterator[None]:
            spare = looked_up[track_index].to(read)
            if replaced:
                spare = torch.where(tracks[track_index].padding[..., None], read[:, -1:], spare)
            vectors = tracks[track_index].at_places(read, spare)
            with output_through(self.form.embeddings[track_index], lambda _: vectors):
                yield

        return reading

    def plain_logits(self, example: Example) -> Tensor:
        """[1]: the log-probability of the second text after the first, from the user's own call."""
        (row,) = self.encode([example]).rows
        ids, places = writing_places([row], self.form.places, self.device)
        first = int(places.min())
        answer = lambda: self.form.plain_logits(example, self.device, first)  # noqa: E731
        with torch.no_grad():
            logits = undisturbed(self.network, self.name, answer, lambda numbers: [numbers])
        return WrittenTrace(logits[None, places[0] - first], ids).log_probabilities(ids).sum(-1)

    def plain_window_logits(self, example: Example, windows: Sequence[Sequence[int]]) -> Tensor:
        """Rows of a model that writes are never cut into windows."""
        raise ModelCannot(f"{self.name} reads no text in windows.")
