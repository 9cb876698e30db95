"""Poolers of pieces: the first one, the mean, the maximum, and two that weigh them by attention."""

import math
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from pellucid.base.checks import one_of
from pellucid.base.kinds import poolers
from pellucid.models.pooling.pooler import PieceTensors, Pooled, Pooler
from pellucid.models.pooling.unit_attention import Weights, check_units, units_of, weighted_sum


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
