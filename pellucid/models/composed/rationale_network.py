"""A network that reads twice: a generator chooses words, the encoder then reads those alone.

Lei, Barzilay and Jaakkola (2016), section 3. As there (x * z), the word embedding of a word that is not read is
multiplied by 0; the word keeps its position and has no weight in the pooled mean. Taking the token out of attention instead
would be a jump at z = 0, and the gradients of HardKuma do not see across a jump.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from pellucid.models.classifiers.hooks import output_through
from pellucid.models.classifiers.output import Output
from pellucid.models.composed.joined_windows import ReadStates, encoder_states, window_of
from pellucid.models.composed.lower_layers import B_COS, last_states, layer_mix_of
from pellucid.models.composed.plan import Plan
from pellucid.models.families.encoder import Encoder
from pellucid.models.poolers.rationale import piece_gates
from pellucid.models.pooling.pooler import PieceTensors, Pooled, Pooler
from pellucid.run.trace import GateTrace, StateTrace
from pellucid.text.units import SPECIAL

# What every composed network has: an encoder, a pooler and a linear head; how they are joined differs.


class EncoderAndHead(nn.Module):
    """The parts of a composed network, as `PieceNetwork` declares them; abstract: `forward` and `choose` are missing."""

    def __init__(self, encoder: Encoder, pooler: Pooler, plan: Plan) -> None:
        super().__init__()
        self.config = encoder.config
        self.encoder = encoder
        self.pooler_settings = plan.above_the_encoder
        self.pooler: Any = pooler  # Any: some poolers offer more, such as gates
        width, bias = pooler.pooled_width or encoder.config.hidden_size, plan.layer_form != B_COS
        self.head = nn.Linear(width, len(plan.labels), bias=bias)
        self.max_length = plan.max_length
        self.reads_sentences = pooler.reads_sentences
        self.reads_content = pooler.reads_content
        self._window = window_of(encoder, plan.max_length)
        self.layer_mix = layer_mix_of(encoder) if pooler.layer_mix else None

    @property
    def joins(self) -> bool:
        """Whether it reads longer texts than its encoder, in windows that are joined."""
        return self._window is not None

    def get_input_embeddings(self) -> nn.Embedding:
        """The encoder's word-embedding module."""
        return self.encoder.get_input_embeddings()

    def states(self, pieces: PieceTensors, read: ReadStates = last_states) -> Tensor:
        """[batch piece width]: the encoder's last states, or the mean over its layers; of long texts, windows are joined.

        read: how the last states are computed.
        """
        return encoder_states(self.encoder, self._window, pieces, self.layer_mix or read)

    def decide(self, pooled: Pooled, states: Tensor, pieces: PieceTensors) -> Output:
        """The pooled vectors' logits in the head's number type, with the pooler's own weights, and the states that it read."""
        with torch.autocast(pooled.vector.device.type, enabled=False):
            logits = self.head(pooled.vector.to(self.head.weight.dtype))
        own = pooled.own_weights
        if pooled.units is not None:
            own["units"] = replace(pooled.units, head=(self.head.weight, self.head.bias))
        if pooled.spans is not None and self.layer_mix is not None:
            own["spans"] = replace(pooled.spans, layer_weights=self.layer_mix.weights)
        real = pieces.attention_mask.bool() & (pieces.segments != SPECIAL)
        # The table itself: a second look-up would go through the hooks that replace and record word embeddings.
        trace = StateTrace(states, pieces.input_ids, self.get_input_embeddings().weight, real)
        return Output(logits=logits, states=trace, **own)


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


# What training remembers about a model that chooses its words: buffers, which are saved and restored with
# the weights.


MEMORY = 0.9  # of the moving average: how much of it stays at each step


class Steering(nn.Module):
    """steps: how many there were. loss: its moving average, the baseline of REINFORCE. price: of reading every word.

    The price is in units of the loss; below 0 it rewards reading.
    """

    steps: Tensor
    loss: Tensor
    price: Tensor

    def __init__(self) -> None:
        super().__init__()
        for name in ("steps", "loss", "price"):
            self.register_buffer(name, torch.zeros(()))

    def remember(self, loss: Tensor) -> None:
        """Update the average; the first steps count equally, so that its first value does not matter."""
        self.steps += 1
        self.loss += max(1 / float(self.steps), 1 - MEMORY) * (loss.detach().to(self.loss) - self.loss)


# Word embeddings that are read through gates: each is multiplied by how much of it is read.


@contextmanager
def read_through(embedding: nn.Module, gates: Tensor) -> Iterator[None]:
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
