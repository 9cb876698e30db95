"""Span attention: the text's vector is a weighted sum over all its spans, and the weights are the explanation.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", equations 2, 3 and 6; the softmax over
scores is corrections.md A0.1, the learnt factor of the product A0.4, biases A0.8.
"""

from typing import Literal, get_args

import torch
from torch import Tensor, nn

from pellucid.core.checks import at_least, one_of
from pellucid.core.kinds import poolers
from pellucid.core.trace import SpanTrace
from pellucid.models.parts import merge_parts
from pellucid.models.pooled import Pooled
from pellucid.models.span_attention import attend_to_spans, average_spans
from pellucid.models.span_kernel import legal_spans

Weights = Literal["learned", "uniform"]


@poolers.add(explains="span_weights")
class span(nn.Module):  # noqa: N801 - registered under the name users type
    """All spans i..j of words or pieces: h_ij = tanh(W1 h_i + W2 h_j + W3 (h_i - h_j) + W4 h_i * W4 h_j).

    unit: "word" (default) or "piece", what spans begin and end with. max_width: the most units of a span
    (None: no limit). weights: "learned", or "uniform" for the ablation that averages all spans.
    score_start: spread of the score vector's first weights; from small ones the model may keep all spans alike.
    """

    def __init__(
        self,
        width: int,
        *,
        unit: str = "word",
        max_width: int | None = None,
        weights: Weights = "learned",
        score_start: float = 0.15,
    ) -> None:
        super().__init__()
        one_of("unit", unit, ("word", "piece"))
        one_of("weights", weights, get_args(Weights))
        if max_width is not None:
            at_least("max_width", max_width, 1)
        at_least("score_start", score_start, 0)
        self.unit, self.max_width, self.weights = unit, max_width, weights
        self.start = nn.Linear(width, width)
        self.end = nn.Linear(width, width)
        self.difference = nn.Linear(width, width)
        self.product = nn.Linear(width, width)
        self.score = nn.Linear(width, 1)
        self._start_at_the_mean(score_start)

    def _start_at_the_mean(self, score_start: float) -> None:
        """Begin with h_ij near tanh of the mean of its two ends, and with weights that already differ a little.

        The paper leaves the start open. From random matrices the encoder's features have to be found again: on SST-2,
        with one seed, dev accuracy after the first epoch was .841 against .869, and even after the second. And where
        all weights are equal the gradient of their concentration is 0: from small scores they stayed nearly equal,
        and the model explained nothing.
        """
        for layer in (self.start, self.end, self.difference, self.product, self.score):
            nn.init.normal_(layer.weight, std=score_start if layer is self.score else 0.02)
            nn.init.zeros_(layer.bias)
        with torch.no_grad():
            for layer in (self.start, self.end):
                layer.weight += torch.eye(layer.in_features) / 2

    def forward(self, states: Tensor, attention_mask: Tensor, words: Tensor, segments: Tensor) -> Pooled:
        """[batch piece width] -> [batch width]; a text without any unit pools to zero."""
        with torch.autocast(states.device.type, enabled=False):
            parts, runs = merge_parts(states.to(self.score.weight.dtype), words, segments, self.unit)
            begin, end, factor = self._folded(parts)
            scores, pooled, normaliser = self._pool(begin, end, factor, runs)
        counts = tuple((runs >= 0).sum(1).tolist())
        return Pooled(pooled, SpanTrace(scores, normaliser, counts, self.unit, self.max_width))

    def _folded(self, parts: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The span vector needs a sum of one vector a start, one an end, and one product: fold W3 into both."""
        begin = nn.functional.linear(parts, self.start.weight + self.difference.weight, self.start.bias)
        end = nn.functional.linear(parts, self.end.weight - self.difference.weight, self.end.bias)
        return begin, end, self.product(parts)

    def _pool(
        self, begin: Tensor, end: Tensor, factor: Tensor, runs: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        if self.weights == "learned":
            return attend_to_spans(begin, end, factor, self.score.weight[0], runs, self.max_width)
        legal = legal_spans(runs, self.max_width)
        scores = torch.zeros_like(legal, dtype=begin.dtype).masked_fill(~legal, float("-inf"))
        normaliser = legal.sum((1, 2)).to(begin.dtype).log()
        weights = scores - normaliser[:, None, None].nan_to_num(neginf=0.0)
        return scores, average_spans(begin, end, factor, weights, runs, self.max_width), normaliser
