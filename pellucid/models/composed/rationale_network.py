"""A network that reads twice: a generator chooses words, the encoder then reads those alone.

Lei, Barzilay and Jaakkola (2016), section 3. What is not read is the word embedding times 0, as there (x * z), and weighs
nothing in the pooled mean; its place stays. Taking the token out of attention instead would be a jump at z = 0, across which
the gradients of HardKuma do not see.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from pellucid.core.passes.trace import GateTrace
from pellucid.models.classifiers.hooks import output_through
from pellucid.models.classifiers.output import Output
from pellucid.models.composed.joined_windows import encoder_states, window_of
from pellucid.models.composed.plan import Plan
from pellucid.models.composed.steering import Steering
from pellucid.models.poolers.rationale import piece_gates, rationale


class RationaleNetwork(nn.Module):
    """Generator, gates, encoder, mean of what was read, linear head."""

    def __init__(self, encoder: Any, pooler: rationale, plan: Plan) -> None:
        super().__init__()
        width: int = encoder.config.hidden_size
        self.config: Any = encoder.config
        self.encoder: Any = encoder
        self.pooler_settings = plan.above_the_encoder
        self.pooler = pooler
        self.head = nn.Linear(width, len(plan.labels))
        self.steering = Steering()
        self.generator = None
        if pooler.generator == "lstm":
            self.generator = Recurrent(self.get_input_embeddings().embedding_dim, width)
        self.max_length = plan.max_length
        self._window = window_of(encoder, plan.max_length)

    @property
    def joins(self) -> bool:
        """Whether it reads longer texts than its encoder, in windows that are joined."""
        return self._window is not None

    def get_input_embeddings(self) -> Any:
        """The encoder's word-embedding module."""
        return self.encoder.get_input_embeddings()

    def choose(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        position_ids: Tensor,
        words: Tensor,
        segments: Tensor,
        token_type_ids: Tensor | None = None,
    ) -> GateTrace:
        """All [batch piece] -> how much of each word is read."""
        states = self._generated(input_ids, attention_mask, position_ids, segments, token_type_ids)
        return self.pooler.choose(states, words, segments)

    def margins(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        position_ids: Tensor,
        words: Tensor,
        segments: Tensor,
        token_type_ids: Tensor | None = None,
    ) -> Tensor:
        """All [batch piece] -> [unit]: how far each gate lies above the one that is as likely open as not."""
        states = self._generated(input_ids, attention_mask, position_ids, segments, token_type_ids)
        return self.pooler.margins(states, words, segments)

    def _generated(
        self, ids: Tensor, mask: Tensor, positions: Tensor, segments: Tensor, types: Tensor | None
    ) -> Tensor:
        """[batch piece width]: what the generator makes of the whole text."""
        if self.generator is None:
            return encoder_states(self.encoder, self._window, ids, mask, positions, segments, types)
        return self.generator(self.get_input_embeddings()(ids).detach(), mask)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        position_ids: Tensor,
        words: Tensor,
        segments: Tensor,
        token_type_ids: Tensor | None = None,
        gates: GateTrace | None = None,
    ) -> Output:
        """All [batch piece] -> logits [batch class]; gates: the choice, if it was made before."""
        if gates is None:
            gates = self.choose(input_ids, attention_mask, position_ids, words, segments, token_type_ids)
        with _read_through(self.get_input_embeddings(), piece_gates(gates, words, segments)):
            states = encoder_states(
                self.encoder, self._window, input_ids, attention_mask, position_ids, segments, token_type_ids
            )
        pooled = self.pooler(states, attention_mask, words, segments, gates)
        with torch.autocast(states.device.type, enabled=False):
            return Output(self.head(pooled.vector.to(self.head.weight.dtype)), None, gates)


class Recurrent(nn.Module):
    """A small generator: one bidirectional LSTM over the encoder's word embeddings, which it does not train."""

    def __init__(self, embedding_width: int, width: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(embedding_width, -(-width // 2), batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * -(-width // 2), width)

    def forward(self, embeddings: Tensor, attention_mask: Tensor) -> Tensor:
        """[batch piece width] -> [batch piece width]; padding and absent tokens are skipped."""
        order = torch.argsort(attention_mask, dim=1, descending=True, stable=True)
        close = embeddings.gather(1, order[..., None].expand_as(embeddings))
        lengths = attention_mask.sum(1).clamp_min(1).cpu()
        packed = nn.utils.rnn.pack_padded_sequence(close, lengths, batch_first=True, enforce_sorted=False)
        read, _ = nn.utils.rnn.pad_packed_sequence(
            self.lstm(packed)[0], batch_first=True, total_length=embeddings.shape[1]
        )
        states = self.out(read)
        return torch.zeros_like(states).scatter(1, order[..., None].expand_as(states), states)


@contextmanager
def _read_through(embedding: nn.Module, gates: Tensor) -> Iterator[None]:
    """Inside, word embeddings are multiplied by the gates [batch piece].

    They are looked up once, for whole rows; where windows are joined, later look-ups are replaced by parts of the first.
    """
    first = True

    def gated(output: Tensor) -> Tensor:
        nonlocal first
        if not first:
            return output
        first = False
        return output * gates[..., None].to(output.dtype)

    with output_through(embedding, gated):
        yield
