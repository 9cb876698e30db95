"""A classifier as the rooms see it: a torch network, its tokenizer, and where its parts are.

Hugging Face and composed networks are run alike: always on real token ids. Where a method moves along a path, the output of
the word-embedding module is replaced (`inputs_embeds` takes another way through some models).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.lazy_properties import cached_property
from pellucid.core.foundation.wording import quoted
from pellucid.core.passes.batch import Batch, Row, SpecialIds
from pellucid.core.passes.model import Packing
from pellucid.core.passes.target import Problem
from pellucid.core.passes.trace import NOTHING, Trace, Want
from pellucid.core.text.example import Example
from pellucid.models.classifiers.hooks import evaluating
from pellucid.models.classifiers.network_facts import NO_LIMIT, NetworkFacts
from pellucid.models.classifiers.network_inputs import NetworkInputs, window_arguments
from pellucid.models.classifiers.recording import Recorder, blocks_of
from pellucid.models.classifiers.tokens import encode
from pellucid.models.families.structure import Structure

# What a network with a head may have; whether it does is seen on a text.
POSSIBLE = frozenset({"gradient", "hidden_states", "attention", "bert_layers"})


@dataclass(frozen=True, eq=False, repr=False)
class Classifier:
    """A network with its tokenizer, class names and the meaning of its logits; implements `core.Model`.

    name: what results call it. possible: the capabilities that it has where its network shows them. window: the most pieces
    to read at once, if fewer than the network can. computes_in: the number type of feed-forward layers, if another than the
    weights'. trained_texts: digests of the texts it was trained on, where they are known (`core/text/trained_texts.py`).
    packings: how rows may share a pass, as far as it was tried.
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
    packings: dict[int, Packing] = field(default_factory=dict, init=False, repr=False)
    unpadded: ClassVar[Packing] = "equal"

    def __repr__(self) -> str:
        return f"<Classifier {self.name}: {', '.join(self.labels)}>"

    @cached_property
    def facts(self) -> NetworkFacts:
        """What is known of the network and the tokenizer."""
        return NetworkFacts(self.network, self.tokenizer, self.name)

    @cached_property
    def inputs(self) -> NetworkInputs:
        """How rows become the network's arguments."""
        return NetworkInputs(self.facts, self.window)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.facts.device

    @property
    def structure(self) -> Structure:
        """Where the network's parts are."""
        return self.facts.structure

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
        return blocks_of(self.facts)

    @property
    def first_position(self) -> int:
        """The position id of the first token."""
        return self.structure.first_position

    @cached_property
    def max_length(self) -> int:
        """The most pieces that the model reads as one text, special tokens included."""
        joined = None if self.facts.pieces is None else self.facts.pieces.max_length
        return min(joined or self.facts.at_once(self.window), self.window or NO_LIMIT)

    @property
    def hash(self) -> str:
        """A digest of weights, class names and tokenizer, as 32 hexadecimal digits; follows every change of the weights."""
        return self.facts.digest((self.labels, self.problem))

    def encode(self, examples: Sequence[Example]) -> Batch:
        """Tokenise; a row longer than the model reads gets windows."""
        pieces = self.facts.pieces
        batch = encode(
            self.facts.own_tokenizer,
            examples,
            self.max_length,
            SpecialIds(**self.blank_ids()),
            sentences=pieces is not None and pieces.reads_sentences,
            content=pieces is not None and pieces.reads_content,
        )
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
        return self.facts.blank_ids

    def embed(self, ids: Tensor) -> Tensor:
        """The word embeddings of ids."""
        with torch.no_grad():
            vectors = self.embedding(ids)
            return vectors[0] if isinstance(vectors, tuple) else vectors

    @cached_property
    def vocabulary(self) -> Tensor:
        """[piece]: the ids that texts are made of, without special tokens."""
        special = set(self.tokenizer.all_special_ids)
        return torch.tensor([number for number in range(self.facts.n_ids) if number not in special])

    def place(self, rows: Sequence[Row]) -> dict[str, Any]:
        """Rows as the arguments of the network's forward, padded on the right: `network(**classifier.place(rows))`.

        What is absent from a row is left out, where the network then answers as if it were there and not attended;
        elsewhere it keeps its position, behind the attention mask.
        """
        return self.inputs.of_rows(rows)

    def skips_gaps(self, length: int) -> bool:
        """Whether absent tokens need not be computed in rows of up to so many positions: tried once for each size."""
        return self.inputs.skips_gaps(length)

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
        return Recorder(self.inputs, self.capabilities, self.computes_in).trace(rows, want, embeddings, layer)

    def plain_logits(self, example: Example) -> Tensor:
        """[logit]: the single, unpadded text through the tokenizer and the network, with nothing of ours between."""
        with evaluating(self.network), torch.no_grad():
            return self.facts.run(self._own_arguments(example)).logits[0]

    def plain_window_logits(self, example: Example, windows: Sequence[Sequence[int]]) -> Tensor:
        """[window logit]: the tokenizer's columns of the whole text, cut to each window's pieces, one by one."""
        arguments = self._own_arguments(example)
        with evaluating(self.network), torch.no_grad():
            runs = [self.facts.run(window_arguments(arguments, pieces)) for pieces in windows]
            return torch.cat([run.logits for run in runs])

    def _own_arguments(self, example: Example) -> dict[str, Any]:
        """What the user's own call gives the network; a composed network reads more than token ids."""
        if self.facts.pieces is None:
            return self.facts.text_columns(example.segments)
        return self.inputs.arguments(self.encode([example]).rows, spread=False)
