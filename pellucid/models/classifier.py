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

from pellucid.core.batch import Batch, Row, SpecialIds, extent
from pellucid.core.bert_layers import bert_layers
from pellucid.core.errors import BadInput, ModelCannot, PellucidError
from pellucid.core.example import Example
from pellucid.core.lazy import cached_property
from pellucid.core.model import Packing
from pellucid.core.precision import TOLERANCE, InFloat32, is_short
from pellucid.core.scheduler import is_memory_error
from pellucid.core.target import Problem
from pellucid.core.trace import NOTHING, GateTrace, Trace, Want
from pellucid.core.wording import quoted, reason
from pellucid.models.digest import network_digest, network_state
from pellucid.models.hooks import Enough, computing_in, evaluating, hidden_states, word_embeddings
from pellucid.models.last_token import emptied, padding_id, told_where_rows_end
from pellucid.models.placing import closed_up, first_position, placed, row_with_gaps
from pellucid.models.recorded_attention import RecordedAttention
from pellucid.models.tokens import encode, own_copy, tokenized

SAME = 0.2  # of the tolerance: when two ways of leaving tokens out count as one
# Where a configuration was kept and by whom: no part of what is computed.
_INCIDENTAL = {"_name_or_path", "transformers_version", "architectures", "dtype", "id2label", "label2id"}


def capabilities_of(network: nn.Module) -> frozenset[str]:
    """What a Hugging Face encoder with a head has; see `core.Model`."""
    own = {"bert_layers"} if bert_layers(network) else set()
    return frozenset({"gradient", "hidden_states", "attention"} | own)


@dataclass(frozen=True, eq=False)
class Classifier:
    """A network with its tokenizer, class names and the meaning of its logits; implements `core.Model`.

    name: what results call it. capabilities: see `core.Model`. window: the most pieces to read at once, if fewer
    than the network can. computes_in: the number type of feed-forward layers, if another than the weights'. trained_texts: digests
    of the texts it was made with, where they are known (`core/trained_texts.py`).
    """

    network: Any  # an nn.Module; Any because its configuration and parts differ by family
    tokenizer: Any
    labels: tuple[str, ...]
    problem: Problem
    name: str
    capabilities: frozenset[str]
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

    @property
    def n_layers(self) -> int:
        """Blocks of the encoder."""
        return int(self.network.config.num_hidden_layers)

    @cached_property
    def embedding(self) -> Any:
        """The word-embedding module."""
        return self.network.get_input_embeddings()

    @cached_property
    def blocks(self) -> nn.ModuleList:
        """The encoder's blocks, first to last; of a network that runs a block several times (ALBERT), each once."""
        lists = [module for module in self.network.modules() if isinstance(module, nn.ModuleList)]
        for count in (self.n_layers, getattr(self.network.config, "num_hidden_groups", None)):
            found = [blocks for blocks in lists if len(blocks) == count]
            if found:
                return found[0]
        raise ModelCannot(
            f"{self.name}: no list of {self.n_layers} blocks was found in {type(self.network).__name__}."
        )

    @cached_property
    def first_position(self) -> int:
        """The position id of the first token."""
        return first_position(self.network)

    @cached_property
    def max_length(self) -> int:
        """The most pieces that the model reads as one text, special tokens included."""
        joined = getattr(self.network, "max_length", None)  # of a composed network that may join windows
        return min(joined or self._at_once, self.window or 10**9)

    @cached_property
    def _at_once(self) -> int:
        positions = getattr(self.network.config, "max_position_embeddings", 10**9)
        limits = (positions - self.first_position, self.tokenizer.model_max_length, self.window)
        return min(int(limit) for limit in limits if isinstance(limit, int | float) and limit < 10**30)

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
        sentences = getattr(self.network, "reads_sentences", False)
        special = SpecialIds(**self.blank_ids())
        batch = encode(self._own_tokenizer, examples, self.max_length, special, sentences=sentences)
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
            return self.embedding(ids)

    @cached_property
    def vocabulary(self) -> Tensor:
        """[piece]: the ids that texts are made of, without special tokens."""
        special = set(self.tokenizer.all_special_ids)
        size = min(len(self.tokenizer), self.embedding.weight.shape[0])
        return torch.tensor([number for number in range(size) if number not in special])

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
            instead = embeddings if layer is None else None
            stack.enter_context(word_embeddings(self.embedding, instead, want.gradients, words))
            if self.computes_in is not None:
                stack.enter_context(computing_in(list(self.blocks), self.computes_in))
            if (want.hidden or layer is not None) and "hidden_states" in self.capabilities:
                stack.enter_context(hidden_states(self.blocks, hidden, want.deepest, layer, embeddings))
            if want.attention:
                stack.enter_context(recorder)
            if want.under is not None:
                stack.enter_context(want.under(self.network))
            try:
                output = self._run(columns)
                logits, spans = output.logits, getattr(output, "spans", None)
            except Enough:
                logits, spans = words[0].new_zeros(len(rows), 0), None
        states = [closed_up(state, rows) for state in hidden] if spread else hidden
        weights, values = tuple(recorder.weights), tuple(recorder.head_values)
        return Trace(logits, words[0], tuple(states), weights, spans, values, columns.get("gates"))

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

    def _run(self, columns: dict[str, Any]) -> Any:
        """The network's own answer; raises `ModelCannot` where it fails, as it does with a tokenizer of another model."""
        network, columns = told_where_rows_end(self.network, columns)
        unkept = {"use_cache": False} if self._reads("use_cache") else {}  # nothing is generated
        try:
            return network(**columns, **unkept)
        except (RuntimeError, LookupError, ValueError, TypeError, ArithmeticError) as error:
            if is_memory_error(error) or isinstance(error, PellucidError):
                raise
            raise ModelCannot(
                f"{self.name} fails on a text: {reason(error)}. Its tokenizer, configuration and weights may not "
                "belong together."
            ) from error

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
        row = row_with_gaps(size, self.embedding.weight.shape[0])
        # Sixteen bits round by more than a shifted position moves some answers.
        exactly = InFloat32() if is_short(self.network) else nullcontext()
        try:
            with evaluating(self.network), torch.no_grad(), exactly:
                close, spread = (self._run(self._placed([row], spread)).logits for spread in (False, True))
        except ModelCannot:
            if isinstance(
                exactly, InFloat32
            ):  # a kernel for sixteen bits only: places stay, which is always right
                return False
            raise
        gap = (close.double() - spread.double()).abs() / spread.double().abs().clamp_min(1.0)
        return bool(gap.max() <= SAME * TOLERANCE[close.dtype])

    def _placed(self, rows: Sequence[Row], spread: bool) -> dict[str, Tensor]:
        own, blank = padding_id(self.network), self.blank_ids()["pad"] or 0
        columns = placed(
            [row if len(row) else emptied(blank) for row in rows],
            pad=blank if own is None else own,
            first_position=self.first_position,
            spread=spread,
            device=self.device,
        )
        unread = () if "token_type_ids" in self.tokenizer.model_input_names else ("token_type_ids",)
        return {name: held for name, held in columns.items() if self._reads(name) and name not in unread}

    def _reads(self, name: str) -> bool:
        return name in self._parameters

    @cached_property
    def _parameters(self) -> frozenset[str]:
        return frozenset(inspect.signature(self.network.forward).parameters)
