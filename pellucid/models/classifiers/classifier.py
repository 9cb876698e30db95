"""A classifier as the rooms see it: a torch network, its tokenizer, and where its parts are.

Networks of Hugging Face and composed networks run in the same way, always on real token ids. Where a method replaces
word embeddings, a hook replaces the output of the embedding module; `inputs_embeds` would run other code in some
models.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from pellucid.base.packages import cached_property
from pellucid.models.classifiers.buffer_copies import undisturbed
from pellucid.models.classifiers.network_facts import NO_LIMIT, NetworkFacts
from pellucid.models.classifiers.piece_answers import PieceAnswers, own_answer, row_with_place
from pellucid.models.classifiers.recording import NetworkInputs, Recorder, blocks_of
from pellucid.models.classifiers.tokens import Tokenizer, encode, refuse_spelt_padding
from pellucid.models.families.structure import Structure
from pellucid.models.routing.route_choice import RouteChoice, RouteQuestion
from pellucid.models.routing.trial import ANSWERS, GRADIENTS, STATES, Route, TrialPasses
from pellucid.results.explanation import Prediction
from pellucid.run.batch import Batch, Row, SpecialIds
from pellucid.run.diagnostics import EAGER
from pellucid.run.model import Packing, Parts
from pellucid.run.predicting import predictions
from pellucid.run.rounding import Rounding
from pellucid.run.target import LanguageHead, Problem
from pellucid.run.trace import NOTHING, Trace, Want
from pellucid.text.example import Example, Texts

# What a network with a head may have; whether it does is seen on a text.
POSSIBLE = frozenset({"gradient", "hidden_states", "attention", "bert_layers"})
# What a model must offer for each kind of pass; None: every model has it.
NEEDED = {ANSWERS: None, STATES: "hidden_states", GRADIENTS: "gradient"}


@dataclass(frozen=True, eq=False, repr=False)
class Classifier:
    """A network with its tokenizer, class names and the meaning of its logits; implements `core.Model`.

    name: what results call it. possible: the capabilities that it can have; it has those of them that its network
        shows.
    window: the most pieces to read at once, if fewer than the network can. computes_in: the number type of feed-forward
    layers, if another than the weights'. trained_texts: digests of the texts it was trained on, where they are known
    (`text/example.py`). trained_segments: how many segments each of these had, 2 for pairs; None where that is not
    known or they differ. language_head: what reads its hidden states back as words. unread_word: the number of a word
    that is hidden from the network in every text (`models/changed_networks.py`). route: how its passes are computed, by
    name, or "auto" for the fastest one (`models/routing/route_choice.py`). packings: how rows may share a pass, filled
    by trials. piece_answers: how its answers for single pieces are read; None: it answers for whole texts.
    """

    network: Any  # an nn.Module; Any because its configuration and parts differ by family
    tokenizer: Tokenizer
    labels: tuple[str, ...]
    problem: Problem
    name: str
    possible: frozenset[str] = POSSIBLE
    window: int | None = None
    computes_in: torch.dtype | None = None
    trained_texts: frozenset[str] = field(default=frozenset(), repr=False)
    trained_segments: int | None = None
    language_head: LanguageHead | None = None
    unread_word: int | None = None
    route: str = EAGER
    piece_answers: PieceAnswers | None = None
    packings: dict[int, Packing] = field(default_factory=dict, init=False, repr=False)
    roundings: dict[tuple[object, ...], Rounding] = field(default_factory=dict, init=False, repr=False)
    unpadded: ClassVar[Packing] = "equal"

    def __repr__(self) -> str:
        return f"<Classifier {self.name}: {', '.join(self.labels)}>"

    @cached_property
    def facts(self) -> NetworkFacts:
        """What is known of the network and the tokenizer."""
        return NetworkFacts(self.network, self.tokenizer, self.name, self.piece_answers)

    @cached_property
    def inputs(self) -> NetworkInputs:
        """How rows become the network's arguments."""
        return NetworkInputs(self.facts, self.window, self.unread_word)

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
        shown = self.possible - self.structure.lacks.keys()
        reads_back = self.language_head is not None and "hidden_states" in shown
        return shown | {"language_head"} if reads_back else shown

    @cached_property
    def route_choice(self) -> RouteChoice:
        """The route that computes its passes, and why; chosen when it is first read."""
        exact = replace(self._recorder(None), computes_in=None)
        passes = TrialPasses(
            lambda route, rows, want: self._recorder(route).trace(rows, want, None, None),
            lambda route, rows, want: replace(exact, route=route).trace(rows, want, None, None),
            lambda texts: self.encode(texts).rows,
            [kind for kind, needs in NEEDED.items() if needs is None or needs in self.capabilities],
        )
        read = f"{self.computes_in} {self.window}"  # which no digest has
        question = RouteQuestion(
            self.route,
            self.network,
            self.device.type,
            lambda: f"{self.hash} {read}",
            passes,
            self.computes_in is not None,
        )
        return question.answer()

    @property
    def route_in_use(self) -> str:
        """The name of the route that computes its passes."""
        return self.route_choice.name

    @property
    def n_layers(self) -> int:
        """Blocks of the encoder, each as often as it runs."""
        return self.structure.n_layers

    @property
    def state_parts(self) -> Mapping[int, Parts]:
        """Layer -> the named parts of its hidden states, where the encoder of a composed network names any."""
        return getattr(getattr(self.network, "encoder", None), "state_parts", {})

    @property
    def embedding(self) -> nn.Module | None:
        """The word-embedding module."""
        return self.structure.embedding

    @property
    def blocks(self) -> nn.ModuleList:
        """The encoder's blocks, first to last; of a network that runs a block several times (ALBERT), each once."""
        return blocks_of(self.facts)

    @cached_property
    def max_length(self) -> int:
        """The most pieces that the model reads as one text, special tokens included."""
        joined = None if self.facts.pieces is None else self.facts.pieces.max_length
        return min(joined or self.facts.at_once(self.window), self.window or NO_LIMIT)

    @property
    def hash(self) -> str:
        """A digest of weights, class names and tokenizer, as 32 hexadecimal digits; follows every change of the
        weights.
        """
        return self.facts.digest((self.labels, self.problem))

    def predict(self, texts: Texts) -> list[Prediction]:
        """One prediction a text, in order, as explanations report it; see `pellucid.predict` for tables and files.

        texts: a string, a pair, an `Example`, or a list of them.
        """
        return predictions(self, texts)

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
            fixed=self.tokenizer.mask_token_id if self.guesses_words else None,
        )
        if self.piece_answers is not None:
            pairs = zip(batch.rows, examples, strict=True)
            batch = replace(batch, rows=tuple(row_with_place(row, example, self.max_length) for row, example in pairs))
            batch = replace(batch, whole_rows=batch.rows)
        if self.structure.first_position:
            refuse_spelt_padding(self.tokenizer, batch, self.name)
        return batch

    @property
    def guesses_words(self) -> bool:
        """Whether it says which word stands behind a mask, rather than classify."""
        return self.piece_answers is not None and self.piece_answers.kind == "word"

    def blank_ids(self) -> dict[str, int | None]:
        """Ids of the pad and mask tokens; where a tokenizer has no pad token, its end-of-text token stands for it."""
        return self.facts.blank_ids

    def embed(self, ids: Tensor) -> Tensor:
        """The word embeddings of ids."""
        embedding = self.embedding
        assert embedding is not None  # the capability was checked
        with torch.no_grad():
            vectors = embedding(ids)
            return vectors[0] if isinstance(vectors, tuple) else vectors

    @property
    def vocabulary(self) -> Tensor:
        """[piece]: the ids that texts are made of, without special tokens."""
        return self.facts.vocabulary

    def place(self, rows: Sequence[Row]) -> dict[str, Any]:  # Any: handed on as keyword arguments
        """Rows as the arguments of the network's forward, padded on the right: `network(**classifier.place(rows))`.

        Absent pieces are left out where the network gives the same answer without them; elsewhere they keep their
        positions and the attention mask hides them.
        """
        return {**self.inputs.of_rows(rows).keywords()}

    def skips_gaps(self, length: int) -> bool:
        """Whether absent tokens can be left out of rows of up to `length` positions; tried once for each size of
        row.
        """
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
        if want.eager:
            return replace(self._recorder(None), computes_in=None).trace(rows, want, embeddings, layer)
        # Backward rules stand in the place of PyTorch's own functions: where states are recorded too, nothing is left
        # of a route. A trial is over before the run begins.
        no_part = want.under is not None and want.hidden
        route = None if no_part else self.route_choice.route_for(want, layer is not None)
        return self._recorder(route).trace(rows, want, embeddings, layer)

    def _recorder(self, route: Route | None) -> Recorder:
        return Recorder(self.inputs, self.capabilities, self.computes_in, route)

    def plain_logits(self, example: Example) -> Tensor:
        """[logit]: the single, unpadded text through the tokenizer and the network, with nothing of ours between."""
        return self.plain_logits_of([example])[0]

    def plain_logits_of(self, examples: Sequence[Example]) -> Tensor:
        """[example logit]: the same for examples that ask about places of one text, from one call: the one in which the
        places were looked for, if it is stored.
        """
        arguments = self.inputs.of_examples(examples, self.encode)
        parts = own_answer(self.network, examples[0].segments)
        if parts is None or arguments.read is None or self.piece_answers is None:
            return self._plain(lambda: self.facts.run(arguments).logits)
        attended = arguments.columns.get("attention_mask", torch.ones_like(arguments.ids))
        return self.piece_answers.logits_of_parts(
            parts, arguments.read, attended[:, : arguments.read.shape[1]], arguments.of_row
        )

    def plain_window_logits(self, example: Example, windows: Sequence[Sequence[int]]) -> Tensor:
        """[window logit]: the tokenizer's columns of the whole text, cut to each window's pieces, one by one."""
        arguments = self.inputs.of_examples([example], self.encode)
        cut = [arguments.window(pieces) for pieces in windows]
        return self._plain(lambda: torch.cat([self.facts.run(window).logits for window in cut]))

    def _plain(self, logits: Callable[[], Tensor]) -> Tensor:
        """Logits of the network's own calls, without a graph."""
        with torch.no_grad():
            return undisturbed(self.network, self.name, logits, lambda answer: [answer])
