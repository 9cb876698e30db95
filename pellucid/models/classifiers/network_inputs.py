"""How rows and texts become the arguments of a network's forward."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext

import torch

from pellucid.base.errors import BadInput, ModelCannot
from pellucid.models.classifiers.collation import Arguments, collate, hidden, row_with_gaps
from pellucid.models.classifiers.network_facts import NetworkFacts, same_logits
from pellucid.models.families.last_token import empty_row
from pellucid.models.pooling.pooler import piece_tensors
from pellucid.run.batch import Batch, Row
from pellucid.run.precision import InWiderNumbers, is_short
from pellucid.text.example import Example


class NetworkInputs:
    """Arguments for one network.

    window: the most pieces to read at once, None for as many as the network can. unread_word: the number of a word of every
    text that is hidden from the network, for the check `dead_token`.
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
        return Arguments({name: column for name, column in columns.items() if name in read})

    def of_example(self, example: Example, encode: Callable[[Sequence[Example]], Batch]) -> Arguments:
        """What the user's own call gives the network; a composed network reads more than token ids, so it gets our row."""
        if self.facts.pieces is None and self.unread_word is None:
            return Arguments(self.facts.text_columns(example.segments))
        return self.arguments(encode([example]).rows, spread=False)

    def spreads(self, rows: Sequence[Row]) -> bool:
        """Whether absent pieces have to keep their positions."""
        distinct = {id(row): row for row in rows}.values()  # the points of a path repeat one row
        gaps = any(row.extent > row.length for row in distinct)
        return gaps and not self.skips_gaps(max(row.extent for row in distinct))

    def skips_gaps(self, length: int) -> bool:
        """Whether absent tokens can be left out of rows of up to `length` positions; tried once for each size of row."""
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
