"""A network that reads twice: a generator chooses words, the encoder then reads those alone.

Lei, Barzilay and Jaakkola (2016), section 3. As there (x * z), the word embedding of a word that is not read is
multiplied by 0; the word keeps its position and has no weight in the pooled mean. Taking the token out of attention instead
would be a jump at z = 0, and the gradients of HardKuma do not see across a jump.
"""

from typing import Any

import torch
from torch import Tensor, nn

from pellucid.core.passes.trace import GateTrace
from pellucid.models.classifiers.output import Output
from pellucid.models.composed.encoder_and_head import EncoderAndHead
from pellucid.models.composed.gated_embeddings import read_through
from pellucid.models.composed.plan import Plan
from pellucid.models.composed.steering import Steering
from pellucid.models.families.encoder import Encoder
from pellucid.models.poolers.rationale import piece_gates
from pellucid.models.pooling.piece_tensors import PieceTensors


class RationaleNetwork(EncoderAndHead):
    """Generator, gates, encoder, mean of what was read, linear head; pooler: a Pooler with generator, choose and margins."""

    def __init__(self, encoder: Encoder, pooler: Any, plan: Plan) -> None:  # Any: as above
        super().__init__(encoder, pooler, plan)
        self.steering = Steering()
        self.generator = None
        if pooler.generator == "lstm":
            width = self.get_input_embeddings().embedding_dim
            self.generator = Recurrent(width, encoder.config.hidden_size)

    def choose(self, pieces: PieceTensors) -> GateTrace:
        """How much of each word is read."""
        return self.pooler.choose(self._generated(pieces), pieces)

    def margins(self, pieces: PieceTensors) -> Tensor:
        """[unit], of all texts one after the other: how far each gate lies above one that is open with probability 1/2."""
        return self.pooler.margins(self._generated(pieces), pieces)

    def _generated(self, pieces: PieceTensors) -> Tensor:
        """[batch piece width]: the generator's states of the whole text."""
        if self.generator is None:
            return self.states(pieces)
        embeddings = self.get_input_embeddings()(pieces.input_ids).detach()
        return self.generator(embeddings, pieces.attention_mask)

    def forward(self, pieces: PieceTensors, gates: GateTrace | None = None) -> Output:
        """[batch piece] -> logits [batch class]; gates: what was chosen before; None: they are chosen here."""
        gates = self.choose(pieces) if gates is None else gates
        with read_through(self.get_input_embeddings(), piece_gates(gates, pieces)):
            states = self.states(pieces)
        return self.decide(self.pooler(states, pieces, gates), states, pieces)


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
