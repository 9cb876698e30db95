"""A classifier as the rooms see it: a torch network, its tokenizer, and where its parts are.

Hugging Face and composed networks are run alike: real token ids always, the word-embedding module's
output replaced where a method moves along a path (`inputs_embeds` takes another way through some models).
"""

import inspect
import json
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from pellucid.core.foundation.errors import BadInput, ModelCannot, PellucidError
from pellucid.core.foundation.lazy_properties import cached_property
from pellucid.core.foundation.memory import is_memory_error
from pellucid.core.foundation.wording import quoted, reason
from pellucid.core.passes.batch import Batch, Row, SpecialIds, extent
from pellucid.core.passes.model import Packing
from pellucid.core.passes.precision import TOLERANCE, InFloat32, is_short
from pellucid.core.passes.target import Problem
from pellucid.core.passes.trace import NOTHING, GateTrace, Trace, Want
from pellucid.core.text.example import Example
from pellucid.models.classifiers.collation import closed_up, first_position, placed, row_with_gaps
from pellucid.models.classifiers.digest import network_digest, network_state
from pellucid.models.classifiers.hooks import Enough, computing_in, evaluating, hidden_states, word_embeddings
from pellucid.models.classifiers.output import Output
from pellucid.models.classifiers.recorded_attention import RecordedAttention
from pellucid.models.classifiers.tokens import encode, own_copy, tokenized
from pellucid.models.families.end_token import end_id, one_end_a_row
from pellucid.models.families.last_token import emptied, padding_id, told_where_rows_end
from pellucid.models.families.structure import Structure, observed, structure_of
from pellucid.models.families.text_config import first_named

FAILURES = (RuntimeError, LookupError, ValueError, TypeError, ArithmeticError, AttributeError, AssertionError)
SAME = 0.2  # of the tolerance: when two ways of leaving tokens out count as one
TRIAL = Example(("a b c d",), id="trial")  # what a network's structure is seen on
# Where a configuration was kept and by whom: no part of what is computed.
_INCIDENTAL = {"_name_or_path", "transformers_version", "architectures", "dtype", "id2label", "label2id"}


# What a network with a head may have; whether it does is seen on a text.
POSSIBLE = frozenset({"gradient", "hidden_states", "attention", "bert_layers"})


@dataclass(frozen=True, eq=False)
class Classifier:
    """A network with its tokenizer, class names and the meaning of its logits; implements `core.Model`.

    name: what results call it. possible: the capabilities that it has where its network shows them. window: the most pieces to read at once, if fewer
    than the network can. computes_in: the number type of feed-forward layers, if another than the weights'. trained_texts: digests
    of the texts it was made with, where they are known (`core/text/trained_texts.py`).
    """

    network: Any  # an nn.Module; Any because its configuration and parts differ by family
    tokenizer: Any
    labels: tuple[str, ...]
    problem: Problem
    name: str
    possible: frozenset[str] = POSSIBLE
    window: int | None = None
    computes_in: torch.dtype | None = None
    trained_texts: frozenset[str] = field(default=frozenset(), repr=False)
    unpadded: ClassVar[Packing] = "equal"

    @cached_property
    def packings(self) -> dict[int, Packing]:
        """How rows may share a pass, as far as it was tried."""
        return {}

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.network.parameters()).device

    @cached_property
    def structure(self) -> Structure:
        """Where the network's parts are, seen while it reads one short text."""
        columns = self._trial_columns
        with evaluating(self.network), torch.no_grad():
            columns = columns | self._chosen(columns)
            with observed(self.network) as record, RecordedAttention() as recorder:
                self._run(columns)
        return structure_of(self.network, record, columns["input_ids"], recorder.weights)

    @cached_property
    def _trial_columns(self) -> dict[str, Any]:
        if self._reads("words"):
            return self._placed([self._trial_row], False, first_position(self.network))
        return self._own_columns(TRIAL)

    @cached_property
    def _trial_row(self) -> Row:
        return encode(self.tokenizer, [TRIAL], 10**9, SpecialIds(None, None)).rows[0]

    @cached_property
    def _takes_positions(self) -> bool:
        """Whether the network answers as ever where it is handed the positions that we count: found out by trying."""
        if "position_ids" not in self._parameters or self._reads("words"):
            return "position_ids" in self._parameters
        columns = self._trial_columns
        count = torch.arange(columns["input_ids"].shape[1], device=self.device)[None] + self.first_position
        with evaluating(self.network), torch.no_grad():
            try:
                runs = [self._run(each).logits for each in (columns, columns | {"position_ids": count})]
            except ModelCannot:
                return False
        return self._same(*runs)

    @cached_property
    def capabilities(self) -> frozenset[str]:
        """See `core.Model`."""
        return self.possible - self.structure.lacks.keys()

    @property
    def n_layers(self) -> int:
        """Blocks of the encoder, each as often as it runs."""
        return self.structure.n_layers

    @property
    def embedding(self) -> Any:
        """The word-embedding module."""
        return self.structure.embedding

    @property
    def blocks(self) -> nn.ModuleList:
        """The encoder's blocks, first to last; of a network that runs a block several times (ALBERT), each once."""
        if self.structure.blocks is None:
            raise ModelCannot(f"{self.name}: {self.structure.lacks['hidden_states']}.")
        return self.structure.blocks

    @property
    def first_position(self) -> int:
        """The position id of the first token."""
        return self.structure.first_position

    @cached_property
    def max_length(self) -> int:
        """The most pieces that the model reads as one text, special tokens included."""
        joined = getattr(self.network, "max_length", None)  # of a composed network that may join windows
        return min(joined or self._at_once, self.window or 10**9)

    @cached_property
    def _at_once(self) -> int:
        first, table = self.structure.first_position, self.structure.n_positions
        named = first_named(self.network.config, "max_position_embeddings", "max_seq_len")
        positions = (table and table - first, named and named - first * (table is None))
        limits = (*positions, self.tokenizer.model_max_length, self.window)
        return min([10**9, *(int(limit) for limit in limits if limit and 0 < limit < 10**30)])

    @cached_property
    def _own_tokenizer(self) -> Any:
        return own_copy(self.tokenizer)

    @property
    def hash(self) -> str:
        """A digest of weights, class names and tokenizer, as 32 hexadecimal digits; follows every change of the weights."""
        state = network_state(self.network)
        if self._hashes.get("state") != state:
            self._hashes.update(state=state, digest=self._digest())
        return self._hashes["digest"]

    @cached_property
    def _hashes(self) -> dict[str, Any]:
        return {}

    def _digest(self) -> str:
        config = {
            name: value for name, value in self.network.config.to_dict().items() if name not in _INCIDENTAL
        }
        pooler = getattr(self.network, "pooler_settings", None)  # of a composed network
        words = json.loads(self.tokenizer.backend_tokenizer.to_str())
        # Every call of the tokenizer sets these anew, so they are no part of what it is.
        words |= {"truncation": None, "padding": None}
        told = [self.labels, self.problem, config, pooler, words]
        return network_digest(self.network, told)

    def encode(self, examples: Sequence[Example]) -> Batch:
        """Tokenise; a row longer than the model reads gets windows."""
        read = {
            name: getattr(self.network, f"reads_{name}", False) for name in ("sentences", "content")
        }  # of a composed network
        special = SpecialIds(**self.blank_ids())
        batch = encode(self._own_tokenizer, examples, self.max_length, special, **read)
        if self.first_position:
            self._refuse_padding(batch)
        return batch

    def _refuse_padding(self, batch: Batch) -> None:
        """RoBERTa's family gives a spelt-out padding token no position, and so moves whatever comes after it."""
        for example, row, units in zip(batch.examples, batch.rows, batch.units, strict=True):
            if any(row.ids[piece] == self.tokenizer.pad_token_id for piece in units.content):
                raise BadInput(
                    f"Example {quoted(example.id)}: the text spells {self.tokenizer.pad_token}, by which {self.name} "
                    "marks what it does not read; write it otherwise, say with a blank inside."
                )

    def blank_ids(self) -> dict[str, int | None]:
        """Ids of the pad and mask tokens; where a tokenizer has no pad token, its end-of-text token stands for it."""
        told = (self.tokenizer.pad_token_id, padding_id(self.network), self.tokenizer.eos_token_id)
        pad = next((number for number in told if number is not None), None)
        return {"pad": pad, "mask": self.tokenizer.mask_token_id}

    def embed(self, ids: Tensor) -> Tensor:
        """The word embeddings of ids."""
        with torch.no_grad():
            vectors = self.embedding(ids)
            return vectors[0] if isinstance(vectors, tuple) else vectors

    @cached_property
    def vocabulary(self) -> Tensor:
        """[piece]: the ids that texts are made of, without special tokens."""
        special = set(self.tokenizer.all_special_ids)
        return torch.tensor([number for number in range(self._n_ids) if number not in special])

    @property
    def _n_ids(self) -> int:
        """Ids that the tokenizer has and the network reads."""
        weight = getattr(self.embedding, "weight", None)
        return len(self.tokenizer) if weight is None else min(len(self.tokenizer), weight.shape[0])

    def trace(
        self,
        rows: Sequence[Row],
        want: Want = NOTHING,
        embeddings: Tensor | None = None,
        layer: int | None = None,
    ) -> Trace:
        """Run rows, padded together; embeddings [example unit width] replace the word embeddings, or a layer's states.

        Rows with gaps leave logits and hidden states behind and nothing else.
        """
        words: list[Tensor] = []
        hidden: list[Tensor] = []
        recorder = RecordedAttention(want.head_values)
        spread = self._spreads(rows)
        columns: dict[str, Any] = self._placed(rows, spread)
        with ExitStack() as stack:
            stack.enter_context(evaluating(self.network))
            stack.enter_context(torch.enable_grad() if want.gradients else nullcontext())
            columns |= self._chosen(columns)
            instead, length = embeddings if layer is None else None, columns["input_ids"].shape[1]
            if "gradient" in self.capabilities:
                again, time_first = self.structure.again, self.structure.time_first
                stack.enter_context(
                    word_embeddings(self.embedding, instead, want.gradients, words, again, length, time_first)
                )
            if self.computes_in is not None:
                stack.enter_context(computing_in(list(self.blocks), self.computes_in))
            if (want.hidden or layer is not None) and "hidden_states" in self.capabilities:
                stack.enter_context(
                    hidden_states(self.blocks, hidden, want.deepest, layer, embeddings, length)
                )
            if want.attention:
                stack.enter_context(recorder)
            if want.under is not None:
                self._refuse_time_first()
                stack.enter_context(want.under(self.network))
            try:
                output = self._run(columns, "relevance" if want.under is not None else None)
                logits, spans = output.logits, getattr(output, "spans", None)
            except Enough:
                logits, spans = hidden[0].new_zeros(len(rows), 0), None
        states = [closed_up(state, rows) for state in hidden] if spread else hidden
        weights, values = tuple(recorder.weights), tuple(recorder.head_values)
        read = words[0] if words else logits.new_zeros(*columns["input_ids"].shape, 0)
        return Trace(logits, read, tuple(states), weights, spans, values, columns.get("gates"))

    def _refuse_time_first(self) -> None:
        if self.structure.time_first:
            raise ModelCannot(
                f"Backward rules, as of relevance and DeepLIFT, share out by text, and {self.name} has the pieces of all "
                "texts in front; use integrated_gradients."
            )

    def _chosen(self, columns: dict[str, Any]) -> dict[str, GateTrace]:
        """What a network that reads twice chooses by its first reading: outside of what looks into the second."""
        if not hasattr(self.network, "choose"):
            return {}
        with torch.no_grad():
            return {"gates": self.network.choose(**columns)}

    def plain_logits(self, example: Example) -> Tensor:
        """[logit]: the single, unpadded text through the tokenizer and the network, with nothing of ours between."""
        with evaluating(self.network), torch.no_grad():
            return self._run(self._own_columns(example)).logits[0]

    def plain_window_logits(self, example: Example, windows: Sequence[Sequence[int]]) -> Tensor:
        """[window logit]: the tokenizer's columns of the whole text, cut to each window's pieces, one by one."""
        columns = self._own_columns(example)
        with evaluating(self.network), torch.no_grad():
            return torch.cat([self._run(self._cut(columns, pieces)).logits for pieces in windows])

    def _own_columns(self, example: Example) -> dict[str, Tensor]:
        if self._reads("words"):  # a composed network reads more than token ids
            return self._placed(self.encode([example]).rows, spread=False)
        return dict(tokenized(self._own_tokenizer, example.segments, return_tensors="pt").to(self.device))

    def _cut(self, columns: dict[str, Tensor], pieces: Sequence[int]) -> dict[str, Tensor]:
        cut = {name: column[:, list(pieces)] for name, column in columns.items()}
        if "position_ids" in cut:  # every window is read from the first position on
            cut["position_ids"] = columns["position_ids"][:, : len(pieces)]
        return cut

    def _run(self, columns: dict[str, Any], under: str | None = None) -> Any:
        """The network's own answer; raises `ModelCannot` where it fails. under: what changes the pass, if something does."""
        network, columns = told_where_rows_end(self.network, columns)
        unkept = {"use_cache": False} if self._reads("use_cache") else {}  # nothing is generated
        with ExitStack() as stack:
            if len(columns["input_ids"]) > 1 and end_id(network) is not None:
                network, columns = stack.enter_context(
                    one_end_a_row(network, columns, self.structure.readers)
                )
            try:
                output = network(**columns, **unkept)
            except FAILURES as error:
                if is_memory_error(error) or isinstance(error, PellucidError):
                    raise
                raise ModelCannot(self._failure(error, under)) from error
        return Output(output[0], None) if isinstance(output, tuple) else output  # config.return_dict=False

    def _failure(self, error: Exception, under: str | None) -> str:
        if under is not None:
            return (
                f"The backward rules of {under} do not go through {self.name}: {reason(error)}. Methods without such "
                "rules work, integrated_gradients and occlusion among them."
            )
        return (
            f"{self.name} fails on a text: {reason(error)}. Its tokenizer, configuration and weights may not belong "
            "together, or it reads more than the ids of a text (boxes of a page, cells of a table, a language)."
        )

    def place(self, rows: Sequence[Row]) -> dict[str, Tensor]:
        """Rows as the tensors the network's forward takes, padded on the right.

        What is absent from a row is left out, where the network then answers as if it were there and not attended;
        elsewhere its place stays, behind the attention mask.
        """
        return self._placed(rows, self._spreads(rows))

    def _spreads(self, rows: Sequence[Row]) -> bool:
        """Whether places have to stay where pieces are absent."""
        gaps = any(extent(row) > len(row) for row in rows)
        return gaps and not self.skips_gaps(max(map(extent, rows)))

    def skips_gaps(self, length: int) -> bool:
        """Whether absent tokens need not be computed in rows of up to so many positions: found out by trying."""
        size = min(self._at_once, max(8, 1 << (length - 1).bit_length()))
        if size not in self._tried:
            self._tried[size] = self._try_gaps(size)
        return self._tried[size]

    @cached_property
    def _tried(self) -> dict[int, bool]:
        return {}

    def _try_gaps(self, size: int) -> bool:
        row = row_with_gaps(size, self._n_ids, self._trial_row.ids[-1])
        # Sixteen bits round by more than a shifted position moves some answers.
        exactly = InFloat32() if is_short(self.network) else nullcontext()
        try:
            with evaluating(self.network), torch.no_grad(), exactly:
                close, spread = (self._run(self._placed([row], spread)).logits for spread in (False, True))
        except BadInput:  # so many pieces are more than the network reads: places stay, which is always right
            return False
        except ModelCannot:
            if isinstance(exactly, InFloat32):  # a kernel for sixteen bits only: likewise
                return False
            raise
        return self._same(close, spread)

    @staticmethod
    def _same(ours: Tensor, own: Tensor) -> bool:
        gap = (ours.double() - own.double()).abs() / own.double().abs().clamp_min(1.0)
        return bool(gap.max() <= SAME * TOLERANCE[ours.dtype])

    def _placed(self, rows: Sequence[Row], spread: bool, first: int | None = None) -> dict[str, Any]:
        own, blank = padding_id(self.network), self.blank_ids()["pad"] or 0
        columns = placed(
            [row if len(row) else emptied(blank) for row in rows],
            pad=blank if own is None else own,
            first_position=self.first_position if first is None else first,
            spread=spread,
            device=self.device,
        )
        unread = set() if "token_type_ids" in self.tokenizer.model_input_names else {"token_type_ids"}
        unread |= set() if first is not None or self._takes_positions else {"position_ids"}
        return {name: held for name, held in columns.items() if self._reads(name) and name not in unread}

    def _reads(self, name: str) -> bool:
        return name in self._parameters

    @cached_property
    def _parameters(self) -> frozenset[str]:
        return frozenset(inspect.signature(self.network.forward).parameters)
