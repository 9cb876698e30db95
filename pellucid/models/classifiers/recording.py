"""A run of rows that is recorded: embeddings, hidden states, attention, a pooler's own weights."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from pellucid.base.errors import BadInput, ModelCannot
from pellucid.models.classifiers.buffer_copies import shared_numbers, undisturbed
from pellucid.models.classifiers.hooks import (
    Enough,
    computing_in,
    graph_after,
    hidden_states,
    wide_after,
    word_embeddings,
)
from pellucid.models.classifiers.network_facts import NetworkFacts, same_logits
from pellucid.models.classifiers.network_layers import RecordedAttention
from pellucid.models.classifiers.running import (
    Arguments,
    Call,
    Output,
    closed_up,
    collate,
    hidden,
    row_with_gaps,
)
from pellucid.models.families.encoder import empty_row
from pellucid.models.pooling.pooler import piece_tensors
from pellucid.models.routing.trial import Route, answering, own_call, shortened
from pellucid.run.batch import Batch, Row, shared_texts
from pellucid.run.rounding import InWiderNumbers, is_short
from pellucid.run.trace import Trace, Want, no_block
from pellucid.text.example import Example

# How rows and texts become the arguments of a network's forward.


class NetworkInputs:
    """Arguments for one network.

    window: the most pieces to read at once, None for as many as the network can. unread_word: the number of a word of
    every text that is hidden from the network, for the check `dead_token`.
    """

    def __init__(self, facts: NetworkFacts, window: int | None, unread_word: int | None = None) -> None:
        self.facts, self.window, self.unread_word = facts, window, unread_word
        self._skips: dict[
            int, bool
        ] = {}  # size of a row -> whether absent pieces need not be computed, as far as tried

    def of_rows(self, rows: Sequence[Row]) -> Arguments:
        """Rows padded on the right; what is absent from a row is left out or masked, see `spreads`."""
        return self.arguments(rows, self.spreads(rows))

    def arguments(self, rows: Sequence[Row], spread: bool) -> Arguments:
        """Arguments of the network's forward; spread: absent pieces keep their positions, behind the attention mask."""
        facts = self.facts
        columns = collate(
            [row if row.length else empty_row(facts.blank_ids["pad"] or 0) for row in rows],
            pad=facts.padding,
            first_position=facts.structure.first_position,
            spread=spread,
            device=facts.device,
        )
        if self.unread_word is not None:
            columns = hidden(columns, columns["word_index"] == self.unread_word)
        columns = facts.read_columns(columns)
        if facts.pieces is not None:
            return Arguments(pieces=piece_tensors(columns))
        unread = set() if facts.takes_positions else {"position_ids"}
        read = facts.parameters - unread
        read_at = columns.get("read") if facts.piece_answers is not None else None
        return Arguments({name: column for name, column in columns.items() if name in read}, read=read_at)

    def of_examples(self, examples: Sequence[Example], encode: Callable[[Sequence[Example]], Batch]) -> Arguments:
        """What the user's own call gives the network for one text, of which several examples may ask about places; a
        composed network reads more than token ids, so it gets our row.
        """
        if self.facts.pieces is not None or self.unread_word is not None:
            return self.arguments(encode(examples).rows, spread=False)
        columns = self.facts.text_columns(examples[0].segments)
        if self.facts.piece_answers is None:
            return Arguments(columns)
        read = torch.tensor([row.read for row in encode(examples).rows], device=self.facts.device)
        of_row = torch.zeros(len(read), dtype=torch.long, device=self.facts.device)
        return Arguments(columns, read=read if read.numel() else None, of_row=of_row)

    def spreads(self, rows: Sequence[Row]) -> bool:
        """Whether absent pieces have to keep their positions."""
        distinct = {id(row): row for row in rows}.values()  # the points of a path repeat one row
        gaps = any(row.extent > row.length for row in distinct)
        return gaps and not self.skips_gaps(max(row.extent for row in distinct))

    def skips_gaps(self, length: int) -> bool:
        """Whether absent tokens can be left out of rows of up to `length` positions; tried once for each size of
        row.
        """
        size = min(self.facts.at_once(self.window), max(8, 1 << (length - 1).bit_length()))
        if size not in self._skips:
            self._skips[size] = self._try_gaps(size)
        return self._skips[size]

    def _try_gaps(self, size: int) -> bool:
        facts = self.facts
        row = row_with_gaps(size, facts.n_ids, facts.trial_row.ids[-1])
        # In sixteen bits rounding is larger than what a shifted position changes in some answers.
        exactly = InWiderNumbers() if is_short(facts.network) else nullcontext()
        try:
            both = [self.arguments([row], spread) for spread in (False, True)]
            with torch.no_grad(), exactly:
                close, spread = facts.trial(lambda: [facts.run(each).logits for each in both])
        except BadInput:  # the network reads fewer pieces; keeping positions is always right
            return False
        except ModelCannot:
            if isinstance(exactly, InWiderNumbers):  # its kernels compute in sixteen bits only; likewise
                return False
            raise
        return same_logits(close, spread)


@dataclass(frozen=True, eq=False)
class Recorder:
    """Records runs of one network.

    capabilities: the classifier's. computes_in: the number type of feed-forward layers, None for the weights'. route:
    how its passes are computed; None: as the network's own call.
    """

    inputs: NetworkInputs
    capabilities: frozenset[str]
    computes_in: torch.dtype | None
    route: Route | None

    def trace(self, rows: Sequence[Row], want: Want, embeddings: Tensor | None, layer: int | None) -> Trace:
        """See `core.passes.model.Model.trace`."""
        facts, spread = self.inputs.facts, self.inputs.spreads(rows)
        arguments = self.inputs.arguments(rows, spread)
        # What a test of attention changes may differ from row to row.
        of_row = () if want.change_attention is not None else shared_texts(rows, embeddings)
        first = [of_row.index(text) for text in range(len({*of_row}))] or [*range(len(rows))]
        if of_row:
            arguments = _of_texts(arguments, of_row, first)
            embeddings = None if embeddings is None else embeddings[first]

        def once() -> Trace:
            run = _Run(self, want, embeddings, layer, arguments.ids.shape[1])
            trace = run.trace(self._output(run, arguments, len(rows)), [rows[row] for row in first], spread)
            return trace.of_rows(of_row) if of_row else trace

        return undisturbed(facts.network, facts.name, once, shared_numbers)

    def _output(self, run: "_Run", arguments: Arguments, count: int) -> Output:
        """The network's answer to so many rows; logits of no class where it stopped at the deepest state."""
        facts = self.inputs.facts
        with ExitStack() as stack:
            stack.enter_context(torch.enable_grad() if run.want.gradients else nullcontext())
            arguments = facts.with_choice(arguments)
            for context in run.contexts():
                stack.enter_context(context)
            try:
                return facts.run(arguments, under_policy=run.want.under is not None, call=run.call)
            except Enough:
                return Output(logits=run.hidden[0].new_zeros(count, 0), gates=arguments.gates)


class _Run:
    """What one run hooks into its network, and what it saw there."""

    def __init__(
        self, recorder: Recorder, want: Want, embeddings: Tensor | None, layer: int | None, length: int
    ) -> None:
        self.recorder, self.facts, self.want = recorder, recorder.inputs.facts, want
        self.instead, self.layer, self.length = embeddings, layer, length
        self.words: list[Tensor] = []
        self.hidden: list[Tensor] = []
        keep = want.keep if want.attention else no_block
        self.attention = RecordedAttention(want.head_values, change=want.change_attention, keep=keep)

    def contexts(self) -> Iterator[AbstractContextManager[Any]]:
        """What is active during the run, in the order in which it is entered."""
        structure, capabilities, want = self.facts.structure, self.recorder.capabilities, self.want
        if "gradient" in capabilities and structure.embedding is not None:
            yield word_embeddings(
                structure.embedding,
                self.words,
                instead=self.instead if self.layer is None else None,
                gradients=want.gradients,
                again=structure.again,
                length=self.length,
                time_first=structure.time_first,
            )
        if self.recorder.computes_in is not None:
            yield computing_in(list(blocks_of(self.facts)), self.recorder.computes_in)
        if (want.hidden or self.layer is not None) and "hidden_states" in capabilities:
            yield hidden_states(
                blocks_of(self.facts),
                self.hidden,
                deepest=want.deepest,
                layer=self.layer,
                instead=self.instead,
                length=self.length,
            )
        if (route := self.recorder.route) is not None:
            yield self._of_route(route)
        if want.attention or want.change_attention is not None:
            yield self.attention
        if want.under is not None:
            self._refuse_time_first()
            yield want.under(self.facts.network)
        if want.wide_head and structure.blocks is not None:  # the last, since it ends first
            yield wide_after(structure.blocks, structure.n_layers)
        if want.head_graph:
            yield graph_after(blocks_of(self.facts), structure.n_layers, self.hidden, self.length)

    def _of_route(self, route: Route) -> AbstractContextManager[object]:
        """What the run has of a route: backward rules stand in the place of functions that it exchanges, and what is
        recorded is computed whole.
        """
        if self.want.under is not None:
            return shortened(route)
        return route.explaining() if self._sees_states or self.want.head_graph else answering(route)

    @property
    def call(self) -> Call:
        """How the network is asked: by the route where only its answer and the word embeddings are wanted."""
        route = self.recorder.route
        if route is None or self._sees_states or self.want.gradients or self.recorder.computes_in is not None:
            return own_call
        return route.answer

    @property
    def _sees_states(self) -> bool:
        """Whether states or attention are recorded or replaced."""
        want = self.want
        sees_attention = want.attention or want.change_attention is not None
        return want.hidden or sees_attention or want.wide_head or self.layer is not None

    def _refuse_time_first(self) -> None:
        if self.facts.structure.time_first:
            raise ModelCannot(
                f"Backward rules, as of relevance and DeepLIFT, share out by text, and {self.facts.name} has the "
                f"pieces of all texts in front; use integrated_gradients."
            )

    def trace(self, output: Output, rows: Sequence[Row], spread: bool) -> Trace:
        """Everything that was seen; states of spread rows are closed up."""
        states = [closed_up(state, rows) for state in self.hidden] if spread else self.hidden
        nothing = output.logits.new_zeros(len(rows), self.length, 0)
        return Trace(
            output.logits,
            self.words[0] if self.words else nothing,
            tuple(states),
            tuple(self.attention.weights),
            head_values=tuple(self.attention.head_values),
            **output.own_weights,
        )


def _of_texts(arguments: Arguments, of_row: Sequence[int], first: Sequence[int]) -> Arguments:
    """The arguments with each text once; of_row: [row], the number of its text; first: [text], its first row."""
    columns = {name: column[first] for name, column in arguments.columns.items()}
    return replace(arguments, columns=columns, of_row=torch.tensor(of_row, device=arguments.ids.device))


def blocks_of(facts: NetworkFacts) -> nn.ModuleList:
    """The encoder's blocks, first to last; raises `ModelCannot` where the network shows none."""
    if facts.structure.blocks is None:
        raise ModelCannot(f"{facts.name}: {facts.structure.lacks['hidden_states']}.")
    return facts.structure.blocks
