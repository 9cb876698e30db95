"""Rationale: the model first chooses words and then decides by these alone; the choice is the explanation.

Lei, Barzilay and Jaakkola (2016), "Rationalizing Neural Predictions", section 3, as used by Sun et al. (2020), section 5;
form="hard_kuma" after Bastings, Aziz and Titov (2019), section 4.
"""

from typing import Literal, get_args

import torch
from torch import Tensor, nn

from pellucid.base.checks import between, one_of
from pellucid.base.kinds import poolers
from pellucid.models.pooling.heaviest_alone import gates_of, margin, start
from pellucid.models.pooling.pooler import PieceTensors, Pooled, Pooler
from pellucid.models.pooling.unit_attention import merge_parts, part_numbers
from pellucid.run.trace import GateTrace
from pellucid.text.units import SPECIAL

Form = Literal["reinforce", "hard_kuma"]
Generator = Literal["encoder", "lstm"]
START = 0.9  # the share of words that is read at first


@poolers.add("rationale", explains="rationale", chooses=True)
class RationalePooler(Pooler):
    """A gate z for every word, between 0 (not read) and 1 (read); the text is read a second time through the gates.

    coverage: the share of words to read, 0.01 to 0.99; a price in the loss and a threshold keep the share there. None: only
    penalties limit how much is read. form: "reinforce", gates are 0 or 1 and learn by trial; "hard_kuma", gates have
    gradients. unit: "word" or "piece", what has a gate. generator: what chooses, the "encoder" itself or a small "lstm" of
    its own. Outside training each gate is the median of its distribution: a word is read if reading it is the likelier
    outcome.
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
        """[unit], of all texts one after the other: how far each gate lies above one that is open with probability 1/2."""
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
