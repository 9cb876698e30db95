"""Poolers of pieces: a mean, the first or last piece, weights of single pieces, and words that the model chooses."""

import math
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from pellucid.base.checks import between, one_of
from pellucid.base.kinds import poolers
from pellucid.models.pooling.heaviest_alone import gates_of, margin, start
from pellucid.models.pooling.pooler import (
    PieceTensors,
    Pooled,
    Pooler,
    Weights,
    check_units,
    merge_parts,
    part_numbers,
    units_of,
    weighted_sum,
)
from pellucid.run.trace import GateTrace
from pellucid.text.units import SPECIAL


@poolers.add("first_token", explains=False, alone=True, linear=True)
class FirstTokenPooler(Pooler):
    """The state of the first piece ([CLS], <s>).

    The text's vector is the first piece's state, as fine-tuned encoders have it.

    Source: The plain twin of every self-explaining model.
    """

    def __init__(self, width: int) -> None:
        super().__init__()

    def forward(self, states: Tensor, pieces: PieceTensors) -> Pooled:
        """[batch piece width] -> [batch width]."""
        return Pooled(vector=states[:, 0])


@poolers.add("mean", explains=False, linear=True)
class MeanPooler(Pooler):
    """The mean state of all real pieces.

    The text's vector is the average of its pieces' states, special tokens included.

    Source: As sentence-transformers' encoders are pretrained.
    """

    def __init__(self, width: int) -> None:
        super().__init__()

    def forward(self, states: Tensor, pieces: PieceTensors) -> Pooled:
        """[batch piece width] -> [batch width]."""
        states = states if states.dtype == torch.float64 else states.float()  # a sum over many pieces
        real = pieces.attention_mask[..., None].to(states.dtype)
        return Pooled(vector=(states * real).sum(1) / real.sum(1))


@poolers.add("maximum", explains=False, linear=True)
class MaximumPooler(Pooler):
    """The largest entries of all real pieces, special tokens included.

    Each entry of the text's vector is the largest that any of its pieces has.

    Source: Collobert et al. (2011), "Natural Language Processing (Almost) from Scratch", section 3.3;
    Kim (2014) pools filters so. The plain twin of self-explaining models on a BiLSTM or a CNN, whose
    first piece has not read the text as a transformer's has.
    """

    def __init__(self, width: int) -> None:
        super().__init__()

    def forward(self, states: Tensor, pieces: PieceTensors) -> Pooled:
        """[batch piece width] -> [batch width]."""
        padding = ~pieces.attention_mask.bool()[..., None]
        return Pooled(vector=states.masked_fill(padding, float("-inf")).amax(1))


@poolers.add("additive", explains="unit_weights")
class AdditivePooler(Pooler):
    """The sum of alpha_t h_t, with alpha the softmax over units of v . tanh(W h_t + b); W halves the width.

    The text's vector is a weighted sum of its units' states; a small network scores each state.

    Source: Bahdanau, Cho & Bengio (2015), "Neural Machine Translation by Jointly Learning to Align and
    Translate", without a query, as Tutek & Šnajder (2020), "Staying True to Your Word", section 2,
    classify with it.

    unit: "word" (default) or "piece", what has a weight; a word's state is the mean of its pieces'.
    weights: "learned", or "uniform" for a model that gives each unit of a text the same weight.
    """

    def __init__(self, width: int, *, unit: str = "word", weights: Weights = "learned") -> None:
        super().__init__()
        check_units(unit, weights)
        self.unit, self.weights = unit, weights
        self.hidden = nn.Linear(width, max(1, width // 2))
        self.score = nn.Linear(max(1, width // 2), 1, bias=False)

    def forward(self, states: Tensor, pieces: PieceTensors) -> Pooled:
        """[batch piece width] -> [batch width]; a text without any unit pools to zero."""
        with torch.autocast(states.device.type, enabled=False):
            units, runs = units_of(states.to(self.hidden.weight.dtype), pieces, self.unit)
            if self.weights == "uniform":
                return weighted_sum(units, runs, torch.zeros_like(runs, dtype=units.dtype), self.unit)
            return weighted_sum(units, runs, self.score(torch.tanh(self.hidden(units)))[..., 0], self.unit)


QueryStart = Literal["normal", "default"]


@poolers.add("dot", explains="unit_weights")
class DotPooler(Pooler):
    """The sum of alpha_t h_t, with alpha the softmax over units of q . h_t / sqrt(width of a state).

    The text's vector is a weighted sum of its units' states, scored by their product with a learned
    query.

    Source: Vaswani et al. (2017), "Attention Is All You Need", equation 1, with one query that belongs
    to the model, as Tutek & Šnajder (2020), "Staying True to Your Word", section 2 and appendix C,
    classify with it. The start of the query is corrections.md A4.14.

    unit: "word" (default) or "piece", what has a weight; a word's state is the mean of its pieces'.
    weights: "learned", or "uniform" for a model that gives each unit of a text the same weight.
    query_start: "normal" draws q from N(0, 1); "default" as a linear layer's weights are drawn, with a deviation of
    1 / sqrt(3 width), from which all weights begin nearly equal.
    """

    def __init__(
        self,
        width: int,
        *,
        unit: str = "word",
        weights: Weights = "learned",
        query_start: QueryStart = "normal",
    ) -> None:
        super().__init__()
        check_units(unit, weights)
        one_of("query_start", query_start, get_args(QueryStart))
        self.unit, self.weights, self.query_start = unit, weights, query_start
        self.query = nn.Parameter(torch.empty(width))
        if query_start == "normal":
            nn.init.normal_(self.query)
        else:
            nn.init.uniform_(self.query, -1 / math.sqrt(width), 1 / math.sqrt(width))

    def forward(self, states: Tensor, pieces: PieceTensors) -> Pooled:
        """[batch piece width] -> [batch width]; a text without any unit pools to zero."""
        with torch.autocast(states.device.type, enabled=False):
            units, runs = units_of(states.to(self.query.dtype), pieces, self.unit)
            if self.weights == "uniform":
                return weighted_sum(units, runs, torch.zeros_like(runs, dtype=units.dtype), self.unit)
            scores = torch.matmul(units, self.query) / math.sqrt(len(self.query))
            return weighted_sum(units, runs, scores, self.unit)


# Rationale: the model first chooses words and then decides by these alone; the choice is the explanation.

Form = Literal["reinforce", "hard_kuma"]
Generator = Literal["encoder", "lstm"]
START = 0.9  # the share of words that is read at first


@poolers.add("rationale", explains="rationale", chooses=True)
class RationalePooler(Pooler):
    """A gate z for every word, between 0 (not read) and 1 (read); the text is read a second time through the gates.

    Source: Lei, Barzilay and Jaakkola (2016), "Rationalizing Neural Predictions", section 3, as used by
    Sun et al. (2020), section 5; form="hard_kuma" after Bastings, Aziz and Titov (2019), section 4.

    coverage: the share of words to read, 0.01 to 0.99; a price in the loss and a threshold keep the share there. None:
    only penalties limit how much is read. form: "reinforce", gates are 0 or 1 and learn by trial; "hard_kuma", gates
    have gradients. unit: "word" or "piece", what has a gate. generator: what chooses, the "encoder" itself or a small
    "lstm" of its own. Outside training each gate is the median of its distribution: a word is read if reading it is the
    likelier outcome.
    """

    threshold: Tensor

    def __init__(
        self,
        width: int,
        *,
        coverage: float | None = 0.2,
        form: Form = "reinforce",
        unit: str = "word",
        generator: Generator = "encoder",
    ) -> None:
        super().__init__()
        if coverage is not None:
            between("coverage", coverage, 0.01, 0.99)
        one_of("form", form, get_args(Form))
        one_of("unit", unit, ("word", "piece"))
        one_of("generator", generator, get_args(Generator))
        self.coverage, self.form, self.unit, self.generator = coverage, form, unit, generator
        self.gate = nn.Linear(width, 1 if form == "reinforce" else 2)
        self.register_buffer("threshold", torch.zeros(()))
        nn.init.normal_(self.gate.weight, std=0.02)
        with torch.no_grad():
            self.gate.bias.copy_(self._start())

    def _start(self) -> Tensor:
        """Begin with nearly all words read: gates can be learnt only once the model decides the classes by words."""
        share = torch.tensor(START)
        return share.logit()[None] if self.form == "reinforce" else start(share)

    def choose(self, states: Tensor, pieces: PieceTensors) -> GateTrace:
        """The generator's states [batch piece width] -> gates, drawn while training, else the medians."""
        parameters, runs = self._of_units(states, pieces)
        if not self.training:
            parameters = torch.cat([parameters[..., :1] - self.threshold, parameters[..., 1:]], -1)
        return (self._binary if self.form == "reinforce" else self._continuous)(parameters, runs)

    def margins(self, states: Tensor, pieces: PieceTensors) -> Tensor:
        """[unit], of all texts one after the other: how far each gate lies above one that is open with probability
        1/2.
        """
        parameters, runs = self._of_units(states, pieces)
        margins = parameters[..., 0] if self.form == "reinforce" else margin(parameters)
        return margins[runs != SPECIAL]

    def _of_units(self, states: Tensor, pieces: PieceTensors) -> tuple[Tensor, Tensor]:
        """Parameters of each unit's gate [batch unit number], and each unit's run [batch unit]."""
        with torch.autocast(states.device.type, enabled=False):
            states = states.to(self.gate.weight.dtype)
            parts, runs = merge_parts(states, pieces.word_index, pieces.segments, self.unit)
            return self.gate(parts), runs

    def _binary(self, parameters: Tensor, runs: Tensor) -> GateTrace:
        logits, real = parameters[..., 0], (runs != SPECIAL)
        chances = logits.sigmoid() * real
        if not self.training:
            return GateTrace((chances > 0.5).to(chances.dtype), chances, runs, self.unit)
        values = torch.bernoulli(chances.detach())
        surprise = nn.functional.binary_cross_entropy_with_logits(logits, values, reduction="none")
        return GateTrace(values, chances, runs, self.unit, -(surprise * real).sum(1))

    def _continuous(self, parameters: Tensor, runs: Tensor) -> GateTrace:
        kuma, real = gates_of(parameters), runs != SPECIAL
        values = kuma.draw() if self.training else kuma.median
        return GateTrace(values * real, kuma.above_zero * real, runs, self.unit)

    def forward(self, states: Tensor, pieces: PieceTensors, gates: GateTrace | None = None) -> Pooled:
        """[batch piece width] -> [batch width]: the mean of what was read, special tokens always among it.

        gates: how much of each unit was read; None: they are chosen from the same states.
        """
        gates = self.choose(states, pieces) if gates is None else gates
        states = states if states.dtype == torch.float64 else states.float()
        weights = piece_gates(gates, pieces).to(states.dtype) * pieces.attention_mask
        mean = (states * weights[..., None]).sum(1) / weights.sum(1, keepdim=True).clamp_min(1e-6)
        return Pooled(vector=mean, gates=gates)


def piece_gates(gates: GateTrace, pieces: PieceTensors) -> Tensor:
    """[batch piece]: the gate of each piece's unit; 1 for special tokens and padding."""
    numbers = part_numbers(pieces.word_index, pieces.segments, gates.unit)
    return gates.values.gather(1, numbers.clamp_min(0)).masked_fill(numbers == SPECIAL, 1.0)
