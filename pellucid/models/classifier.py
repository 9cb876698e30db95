"""A classifier as the rooms see it: a torch network, its tokenizer, and where its parts are.

Hugging Face and composed networks are run alike: real token ids always, the word-embedding module's
output replaced where a method moves along a path (`inputs_embeds` takes another way through some models).
"""

import inspect
import json
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import torch
from torch import Tensor, nn

from pellucid.core.batch import Batch, Row
from pellucid.core.errors import ModelCannot
from pellucid.core.example import Example
from pellucid.core.model import NOTHING, Trace, Want
from pellucid.core.target import Problem
from pellucid.models.hooks import RecordedAttention, evaluating, hidden_states, output_through
from pellucid.models.tokens import encode

# Where a configuration was kept and by whom: no part of what is computed.
_INCIDENTAL = {"_name_or_path", "transformers_version", "architectures", "dtype", "id2label", "label2id"}


@dataclass(frozen=True, eq=False)
class Classifier:
    """A network with its tokenizer, class names and the meaning of its logits; implements `core.Model`.

    name: what results call it. max_length: pieces it reads. capabilities: see `core.Model`.
    """

    network: Any  # an nn.Module; Any because its configuration and parts differ by family
    tokenizer: Any
    labels: tuple[str, ...]
    problem: Problem
    name: str
    capabilities: frozenset[str]

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.network.parameters()).device

    @property
    def n_layers(self) -> int:
        """Blocks of the encoder."""
        return len(self.blocks)

    @cached_property
    def embedding(self) -> nn.Module:
        """The word-embedding module."""
        return self.network.get_input_embeddings()

    @cached_property
    def blocks(self) -> nn.ModuleList:
        """The encoder's blocks, first to last."""
        count = self.network.config.num_hidden_layers
        lists = [
            module
            for module in self.network.modules()
            if isinstance(module, nn.ModuleList) and len(module) == count
        ]
        if not lists:
            raise ModelCannot(
                f"{self.name}: no list of {count} blocks was found in {type(self.network).__name__}."
            )
        return lists[0]

    @cached_property
    def first_position(self) -> int:
        """The position id of the first token: RoBERTa's family counts from its padding id + 1."""
        places = [m for name, m in self.network.named_modules() if name.endswith("position_embeddings")]
        padding = getattr(places[0], "padding_idx", None) if places else None
        return 0 if padding is None else padding + 1

    @cached_property
    def max_length(self) -> int:
        """The most pieces of a text that the model reads, special tokens included."""
        positions = getattr(self.network.config, "max_position_embeddings", 10**9)
        return min(positions - self.first_position, self.tokenizer.model_max_length)

    @property
    def hash(self) -> str:
        """A digest of weights, class names and tokenizer, as 32 hexadecimal digits; follows later training."""
        state = tuple((tensor.data_ptr(), tensor._version) for tensor in self.network.state_dict().values())
        if self._hashes.get("state") != state:
            self._hashes.update(state=state, digest=self._digest())
        return self._hashes["digest"]

    @cached_property
    def _hashes(self) -> dict[str, Any]:
        return {}

    def _digest(self) -> str:
        digest = blake2b(digest_size=16)
        for name, tensor in sorted(self.network.state_dict().items()):
            digest.update(name.encode())
            digest.update(
                tensor.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes()
                if tensor.numel()
                else b""
            )
        config = {
            name: value for name, value in self.network.config.to_dict().items() if name not in _INCIDENTAL
        }
        pooler = getattr(self.network, "pooler_settings", None)  # of a composed network
        digest.update(
            json.dumps([self.labels, self.problem, config, pooler], sort_keys=True, default=str).encode()
        )
        digest.update(self.tokenizer.backend_tokenizer.to_str().encode())
        return digest.hexdigest()

    def encode(self, examples: Sequence[Example]) -> Batch:
        """Tokenise; raises `BadInput` for a text longer than the model reads."""
        return encode(self.tokenizer, examples, self.max_length)

    def blank_ids(self) -> dict[str, int | None]:
        """Ids of the pad and mask tokens."""
        return {"pad": self.tokenizer.pad_token_id, "mask": self.tokenizer.mask_token_id}

    def embed(self, ids: Tensor) -> Tensor:
        """The word embeddings of ids."""
        with torch.no_grad():
            return self.embedding(ids)

    def trace(self, rows: Sequence[Row], want: Want = NOTHING, embeddings: Tensor | None = None) -> Trace:
        """Run rows, padded together; embeddings [example unit width] replace the word embeddings."""
        words: list[Tensor] = []

        def at_embeddings(output: Tensor) -> Tensor:
            chosen = output if embeddings is None else embeddings.to(output.dtype)
            words.append(chosen.detach().requires_grad_() if want.gradients else chosen)
            return words[0]

        hidden: dict[int, Tensor] = {}
        recorder = RecordedAttention()
        with ExitStack() as stack:
            stack.enter_context(evaluating(self.network))
            stack.enter_context(torch.enable_grad() if want.gradients else nullcontext())
            stack.enter_context(output_through(self.embedding, at_embeddings))
            if want.hidden:
                stack.enter_context(hidden_states(self.blocks, hidden))
            if want.attention:
                stack.enter_context(recorder)
            output = self.network(**self.place(rows))
        states = tuple(hidden[layer] for layer in sorted(hidden))
        return Trace(output.logits, words[0], states, tuple(recorder.weights), getattr(output, "spans", None))

    def plain_logits(self, example: Example) -> Tensor:
        """[logit]: the single, unpadded text through the tokenizer and the network, with nothing of ours between."""
        with evaluating(self.network), torch.no_grad():
            if self._reads("words"):  # a composed network reads more than token ids
                return self.network(**self.place(self.encode([example]).rows)).logits[0]
            encoded = self.tokenizer(*example.segments, return_tensors="pt").to(self.device)
            return self.network(**encoded).logits[0]

    def place(self, rows: Sequence[Row]) -> dict[str, Tensor]:
        """Rows as the tensors the network's forward takes, padded on the right."""
        pad = self.tokenizer.pad_token_id or 0
        columns = {
            "input_ids": self._padded([row.ids for row in rows], pad),
            "attention_mask": self._padded([(1,) * len(row) for row in rows], 0),
            "token_type_ids": self._padded([row.types for row in rows], 0),
            "position_ids": self._padded([row.positions for row in rows], 0) + self.first_position,
            "words": self._padded([row.words for row in rows], -1),
            "segments": self._padded([row.segments for row in rows], -1),
        }
        unread = () if "token_type_ids" in self.tokenizer.model_input_names else ("token_type_ids",)
        return {name: column for name, column in columns.items() if self._reads(name) and name not in unread}

    def _padded(self, columns: Sequence[tuple[int, ...]], filling: int) -> Tensor:
        longest = max(map(len, columns))
        return torch.tensor(
            [(*column, *(filling,) * (longest - len(column))) for column in columns], device=self.device
        )

    def _reads(self, name: str) -> bool:
        return name in self._parameters

    @cached_property
    def _parameters(self) -> frozenset[str]:
        return frozenset(inspect.signature(self.network.forward).parameters)
