"""What a composed model is made of, its network, and the network that reads a text twice, to choose words and to
decide.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from pellucid.base.checks import of_kind, one_of, quoted
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import poolers
from pellucid.models.classifiers.hooks import output_through
from pellucid.models.classifiers.running import Output, check_labels
from pellucid.models.composed.joined_windows import ReadStates, encoder_states, window_of
from pellucid.models.composed.lower_layers import (
    B_COS,
    check_form,
    last_states,
    layer_mix_of,
    with_b_cos_layers,
)
from pellucid.models.families.encoder import Encoder
from pellucid.models.poolers.pieces import piece_gates
from pellucid.models.pooling.pooler import PieceTensors, Pooled, Pooler
from pellucid.run.target import Problem
from pellucid.run.trace import GateTrace, StateTrace
from pellucid.text.units import SPECIAL

# Keyword arguments of a registered encoder or pooler: plain values by name.
Settings: TypeAlias = dict[str, object]
# Fields that folders of earlier versions do not have.
LATER = ("encoder_settings", "strip_final_full_stop", "started_from", "max_length", "layer_form")


@dataclass(frozen=True)
class Plan:
    """What a composed model is made of: enough to build it again.

    encoder: a registered name, or the folder or hub name of a pretrained encoder.
    pooler, pooler_settings: a registered name and its settings.
    labels, problem: the classes and what their logits mean.
    trained: what training writes about itself.
    encoder_settings: settings of a registered encoder.
    max_length: the most pieces that are read as one text; where the encoder reads fewer, windows are joined. None: what
    the encoder reads.
    strip_final_full_stop: a full stop at the end of a text is not read.
    started_from: the digest of the classifier whose encoder it is; "" where there was none.
    layer_form: "b_cos", linear layers without constants that weigh by alignment; "", layers as they are.
    """

    encoder: str
    pooler: str
    pooler_settings: Settings
    labels: tuple[str, ...]
    problem: Problem = "single_label"
    trained: dict[str, object] = field(default_factory=dict)
    encoder_settings: Settings = field(default_factory=dict)
    max_length: int | None = None
    strip_final_full_stop: bool = False
    started_from: str = ""
    layer_form: str = ""

    @property
    def above_the_encoder(self) -> Settings:
        """What a model's hash depends on besides weights: its pooler, its form, and how it reads long texts."""
        joined = {} if self.max_length is None else {"max_length": self.max_length}
        form = {"layer_form": self.layer_form} if self.layer_form else {}
        return {"pooler": self.pooler, **self.pooler_settings, **joined, **form}

    def record(self) -> dict[str, object]:
        """Every field as JSON, without those of later versions that are empty: so plans of older versions stay the
        same.
        """
        return {name: value for name, value in asdict(self).items() if value or name not in LATER}


def read_plan(config: Mapping[str, Any]) -> Plan:  # Any: values of every kind, checked here
    """The plan in a saved configuration, every field of its kind; raises `KeyError` for a missing one, else
    `BadSetting`.
    """
    names = [name for name in Plan.__dataclass_fields__ if name in config or name not in LATER]
    plan = Plan(**{name: config[name] for name in names})
    for name in ("encoder", "pooler"):
        of_kind(name, getattr(plan, name), str)
    one_of("problem", of_kind("problem", plan.problem, str), ("single_label", "multi_label"))
    if not isinstance(plan.labels, list):
        raise BadSetting(f"labels={quoted(plan.labels)} is not possible; give a list of names.")
    check_labels(plan.labels)
    return replace(
        plan,
        labels=tuple(plan.labels),
        pooler_settings=dict(plan.pooler_settings),
        trained=dict(plan.trained),
        encoder_settings=dict(plan.encoder_settings),
        strip_final_full_stop=of_kind("strip_final_full_stop", plan.strip_final_full_stop, bool),
        started_from=of_kind("started_from", plan.started_from, str),
        layer_form=of_kind("layer_form", plan.layer_form, str),
    )


# A network that reads twice: a generator chooses words, the encoder then reads those alone.
#
# Lei, Barzilay and Jaakkola (2016), section 3. As there (x * z), the word embedding of a word that is not read is
# multiplied by 0; the word keeps its position and has no weight in the pooled mean. Taking the token out of attention
# instead would be a jump at z = 0, and the gradients of HardKuma do not see across a jump.

# What every composed network has: an encoder, a pooler and a linear head; how they are joined differs.


class EncoderAndHead(nn.Module):
    """The parts of a composed network, as `PieceNetwork` declares them; abstract: `forward` and `choose` are
    missing.
    """

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
        """[batch piece width]: the encoder's last states, or the mean over its layers; of long texts, windows are
        joined.

        read: how the last states are computed.
        """
        return encoder_states(self.encoder, self._window, pieces, self.layer_mix or read)

    def decide(self, pooled: Pooled, states: Tensor, pieces: PieceTensors) -> Output:
        """The pooled vectors' logits in the head's number type, with the pooler's own weights, and the states that it
        read.
        """
        with torch.autocast(pooled.vector.device.type, enabled=False):
            logits = self.head(pooled.vector.to(self.head.weight.dtype))
        own_weights = pooled.own_weights
        if pooled.units is not None:
            own_weights["units"] = replace(pooled.units, head=(self.head.weight, self.head.bias))
        if pooled.spans is not None and self.layer_mix is not None:
            own_weights["spans"] = replace(pooled.spans, layer_weights=self.layer_mix.weights)
        real = pieces.attention_mask.bool() & (pieces.segments != SPECIAL)
        # The table itself: a second look-up would go through the hooks that replace and record word embeddings.
        trace = StateTrace(states, pieces.input_ids, self.get_input_embeddings().weight, real)
        return Output(logits=logits, states=trace, **own_weights)


class RationaleNetwork(EncoderAndHead):
    """Generator, gates, encoder, mean of what was read, linear head; pooler: a Pooler with generator, choose and
    margins.
    """

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
        """[unit], of all texts one after the other: how far each gate lies above one that is open with probability
        1/2.
        """
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


# What training remembers about a model that chooses its words: buffers, which are saved and restored with the
# weights.

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

    They are looked up once, for whole rows; where windows are joined, later look-ups are replaced by parts of the
    first.
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


# The network of a composed model: encoder x pooler x head.
#
# The head is linear and the pooler's weights sum to 1, so the weighted units' logits sum to the logit.


class PoolingNetwork(EncoderAndHead):
    """A network that reads its text once."""

    def choose(self, pieces: PieceTensors) -> GateTrace | None:
        """None: nothing is chosen before the text is read."""
        return None

    def forward(self, pieces: PieceTensors, gates: GateTrace | None = None, read: ReadStates = last_states) -> Output:
        """[batch piece] -> logits [batch class] in the head's number type; gates are not read. read: how the encoder's
        states are computed.
        """
        states = self.states(pieces, read)
        return self.decide(self.pooler(states, pieces), states, pieces)


ComposedNetwork = PoolingNetwork | RationaleNetwork


def composed_network(encoder: Encoder, plan: Plan) -> ComposedNetwork:
    """A network on an encoder, which gets the plan's form, its new parts drawn from torch's global random state."""
    check_form(plan.layer_form, plan.pooler)
    if plan.layer_form == B_COS:
        with_b_cos_layers(encoder, plan.encoder)
    pooler = _new_pooler(encoder.config.hidden_size, plan)
    if poolers.get(plan.pooler).facts["chooses"]:
        return RationaleNetwork(encoder, pooler, plan)
    return PoolingNetwork(encoder, pooler, plan)


def _new_pooler(width: int, plan: Plan) -> Pooler:
    """The plan's pooler, over states of this width."""
    entry = poolers.get(plan.pooler)
    return entry.make(width, **entry.settings(plan.pooler_settings))
