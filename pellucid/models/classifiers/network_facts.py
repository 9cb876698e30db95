"""What a classifier knows of its network and tokenizer: sizes, special ids, structure, digest; each is computed
once.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from pellucid.base.errors import ModelCannot
from pellucid.base.packages import cached_property
from pellucid.models.classifiers.buffer_copies import reading, undisturbed
from pellucid.models.classifiers.hooks import word_embeddings
from pellucid.models.classifiers.in_memory import losses, network_digest, network_state
from pellucid.models.classifiers.network_layers import RecordedAttention
from pellucid.models.classifiers.piece_answers import PieceAnswers
from pellucid.models.classifiers.running import Arguments, Call, Output, collate, run_network
from pellucid.models.classifiers.tokens import Tokenizer, TokenizerAsCalled, encode, own_copy, tokenized
from pellucid.models.families.encoder import EncoderConfiguration, padding_id
from pellucid.models.families.probes import (
    columns_of,
    computing_config,
    device_of,
    first_position,
    most_pieces,
    parameter_names,
    rows_of_table,
)
from pellucid.models.families.structure import Structure, observed, structure_of
from pellucid.models.pooling.pooler import PieceTensors, piece_tensors
from pellucid.models.routing.trial import own_call
from pellucid.run.batch import Row, SpecialIds
from pellucid.run.parity import residuals
from pellucid.run.rounding import TOLERANCE
from pellucid.run.trace import GateTrace
from pellucid.text.example import Example

# What a network must offer that reads a record of piece tensors; networks of Hugging Face read columns by name
# instead.


@runtime_checkable
class PieceNetwork(Protocol):
    """A composed network, as a `Classifier` sees it; a module whose forward takes `PieceTensors`.

    config: its encoder's. max_length: the most pieces of a text that it reads as one; None: what its encoder reads.
    reads_sentences, reads_content: whether it reads these fields of the record. pooler_settings: what its answers
    depend on besides weights and configuration, as JSON.
    """

    config: EncoderConfiguration
    max_length: int | None
    reads_sentences: bool
    reads_content: bool
    pooler_settings: dict[str, object]

    def choose(self, pieces: PieceTensors) -> GateTrace | None:
        """Of a network that reads twice, what it chooses by its first reading; None for one that reads once."""
        ...

    def forward(self, pieces: PieceTensors, gates: GateTrace | None = None) -> Output:
        """[batch piece] -> logits and own weights; gates: what `choose` returned."""
        ...


NO_LIMIT = 10**9
SAME = 0.2  # of the tolerance: below this difference two runs count as equal
TRIAL = Example(("a b c d",), id="trial")  # a network's structure is seen while it reads this


class NetworkFacts:
    """Facts about one network with its tokenizer; name: what messages call it. piece_answers: how its answers for
    single pieces are read; None: it answers for whole texts.
    """

    def __init__(
        self, network: nn.Module, tokenizer: Tokenizer, name: str, piece_answers: PieceAnswers | None = None
    ) -> None:
        self.network, self.tokenizer, self.name, self.piece_answers = network, tokenizer, name, piece_answers
        self._hashed: tuple[object, str] | None = None  # the state of the weights, and the digest that belongs to it

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return device_of(self.network)

    @cached_property
    def pieces(self) -> PieceNetwork | None:
        """The network, where it reads a record of piece tensors; else None."""
        return self.network if isinstance(self.network, PieceNetwork) else None

    @cached_property
    def parameters(self) -> frozenset[str]:
        """Names of the arguments that the network's forward takes."""
        return parameter_names(self.network)

    @cached_property
    def own_tokenizer(self) -> Tokenizer:
        """The tokenizer with settings of its own."""
        return own_copy(self.tokenizer)

    @cached_property
    def structure(self) -> Structure:
        """Where the network's parts are, seen while it reads one short text, and whether gradients lead back to its
        words.
        """
        with reading(self.network), torch.inference_mode(False), torch.no_grad():
            arguments = self.with_choice(self._new_trial_arguments())
            with observed(self.network) as observation, RecordedAttention() as recorder:
                self._run(arguments, tuple)
            structure = structure_of(self.network, observation, arguments.ids, recorder.weights)
            if "gradient" in structure.lacks or not (why := self._why_no_gradient(structure, arguments)):
                return structure
        return replace(structure, lacks={**structure.lacks, "gradient": why})

    def _why_no_gradient(self, structure: Structure, arguments: Arguments) -> str:
        """Where the gradient of a short text ends before its word embeddings, in words; "" where it does not, or cannot
        be tried.
        """
        assert structure.embedding is not None  # else it lacks gradients already
        words = word_embeddings(
            structure.embedding,
            [],
            gradients=True,
            again=structure.again,
            length=arguments.ids.shape[1],
            time_first=structure.time_first,
        )
        with words, losses(self.network) as lost, torch.enable_grad():
            try:
                logits = self._run(arguments, lambda: structure.readers).logits
            except ModelCannot:
                return ""
        if lost:
            return f"no gradient goes through {lost[0]}"
        return "" if logits.requires_grad else "its forward gives logits without a gradient"

    @cached_property
    def takes_positions(self) -> bool:
        """Whether the network gives the same answer with our position ids as with its own; tried once."""
        if "position_ids" not in self.parameters:
            return self.pieces is not None
        trial_arguments = self._trial_arguments
        count = torch.arange(trial_arguments.ids.shape[1], device=self.device)[None] + self.structure.first_position
        counted = Arguments({**trial_arguments.columns, "position_ids": count})
        with torch.no_grad():
            try:
                runs = self.trial(lambda: [self.run(each).logits for each in (trial_arguments, counted)])
            except ModelCannot:
                return False
        return same_logits(*runs)

    def trial(self, logits: Callable[[], list[Tensor]]) -> list[Tensor]:
        """Logits of some runs that a trial compares, in evaluation mode whatever other threads do."""
        return undisturbed(self.network, self.name, logits, lambda answers: answers)

    @cached_property
    def _trial_arguments(self) -> Arguments:
        """The arguments for the trial text."""
        return self._new_trial_arguments()

    def _new_trial_arguments(self) -> Arguments:
        if self.pieces is None:
            return Arguments(self.text_columns(TRIAL.segments))
        pad, first = self.padding, first_position(self.network)
        columns = collate([self.trial_row], pad=pad, first_position=first, spread=False, device=self.device)
        return Arguments(pieces=piece_tensors(self.read_columns(columns)))

    @cached_property
    def trial_row(self) -> Row:
        """The trial text as a row."""
        return encode(self.own_tokenizer, [TRIAL], NO_LIMIT, SpecialIds(None, None)).rows[0]

    def text_columns(self, segments: Sequence[str]) -> dict[str, Tensor]:
        """The tokenizer's own tensors for one text or pair, as far as the network's forward takes them."""
        return columns_of(
            self.network, dict(tokenized(self.own_tokenizer, segments, return_tensors="pt").to(self.device))
        )

    def read_columns(self, columns: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The columns, without token types where the tokenizer has none."""
        if "token_type_ids" in self.tokenizer.model_input_names:
            return dict(columns)
        return {name: column for name, column in columns.items() if name != "token_type_ids"}

    def with_choice(self, arguments: Arguments) -> Arguments:
        """With what a network that reads twice chooses by its first reading, so that only the second one is
        recorded.
        """
        if self.pieces is None or arguments.pieces is None:
            return arguments
        with torch.no_grad():
            return replace(arguments, gates=self.pieces.choose(arguments.pieces))

    def run(self, arguments: Arguments, under_policy: bool = False, call: Call = own_call) -> Output:
        """See `run_network`."""
        return self._run(arguments, lambda: self.structure.readers, under_policy, call)

    def _run(
        self,
        arguments: Arguments,
        readers: Callable[[], Sequence[nn.Module]],
        under_policy: bool = False,
        call: Call = own_call,
    ) -> Output:
        return run_network(
            self.network,
            arguments,
            name=self.name,
            readers=readers,
            under_policy=under_policy,
            call=call,
            piece_answers=self.piece_answers,
        )

    def at_once(self, window: int | None) -> int:
        """The most pieces that the encoder reads at once, at most a window."""
        first, table = self.structure.first_position, self.structure.n_positions
        positions = (table and table - first, most_pieces(self.network.config, first * (table is None)))
        limits = (*positions, self.tokenizer.model_max_length, window)
        return min([NO_LIMIT, *(int(limit) for limit in limits if limit and 0 < limit < 10**30)])

    @property
    def blank_ids(self) -> dict[str, int | None]:
        """Ids of the pad and mask tokens; where a tokenizer has no pad token, its end-of-text token stands for it."""
        candidates = (self.tokenizer.pad_token_id, padding_id(self.network), self.tokenizer.eos_token_id)
        pad = next((candidate for candidate in candidates if candidate is not None), None)
        return {"pad": pad, "mask": self.tokenizer.mask_token_id}

    @property
    def padding(self) -> int:
        """The id that fills rows up: what the network itself takes for padding, else the tokenizer's."""
        network_padding = padding_id(self.network)
        return (self.blank_ids["pad"] or 0) if network_padding is None else network_padding

    @property
    def n_ids(self) -> int:
        """How many ids the tokenizer has and the network reads."""
        rows = rows_of_table(self.structure.embedding)
        return len(self.tokenizer) if rows is None else min(len(self.tokenizer), rows)

    @cached_property
    def vocabulary(self) -> Tensor:
        """[piece]: the ids that texts are made of, without special tokens."""
        special = set(self.tokenizer.all_special_ids)
        return torch.tensor([index for index in range(self.n_ids) if index not in special])

    def digest(self, classes: Sequence[object]) -> str:
        """A digest of weights, configuration, tokenizer and classes; computed anew after every change of the
        weights.
        """
        state = network_state(self.network)
        if self._hashed is None or self._hashed[0] != state:
            self._hashed = state, self._digest(classes)
        return self._hashed[1]

    def _digest(self, classes: Sequence[object]) -> str:
        pooler = None if self.pieces is None else self.pieces.pooler_settings
        tokenizer = json.loads(self.tokenizer.backend_tokenizer.to_str())
        # Every call of the tokenizer sets these anew, so they are no part of what it is.
        tokenizer |= {"truncation": None, "padding": None}
        if isinstance(self.tokenizer, TokenizerAsCalled):
            tokenizer |= {"called with": dict(self.tokenizer.settings)}
        config: Any = self.network.config  # Any: torch's modules declare no configuration
        return network_digest(self.network, [*classes, computing_config(config), pooler, tokenizer])


def same_logits(ours: Tensor, theirs: Tensor) -> bool:
    """Whether two runs agree to a share of the tolerance of their number type."""
    return bool((residuals(ours.double(), theirs.double()) <= SAME * TOLERANCE[ours.dtype]).all())
