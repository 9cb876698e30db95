"""Additive attention: the text's vector is a weighted sum of its units' states; a small network scores each state.

Bahdanau, Cho & Bengio (2015), "Neural Machine Translation by Jointly Learning to Align and Translate", without a query, as
Tutek & Šnajder (2020), "Staying True to Your Word", section 2, classify with it.
"""

import torch
from torch import Tensor, nn

from pellucid.core.foundation.kinds import poolers
from pellucid.models.pooling.piece_tensors import PieceTensors
from pellucid.models.pooling.pooled import Pooled
from pellucid.models.pooling.pooler import Pooler
from pellucid.models.pooling.unit_attention import Weights, check_units, units_of, weighted_sum


@poolers.add("additive", explains="unit_weights")
class AdditivePooler(Pooler):
    """The sum of alpha_t h_t, with alpha the softmax over units of v . tanh(W h_t + b); W halves the width.

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
