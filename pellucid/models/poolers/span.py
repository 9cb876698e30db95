"""Span attention: the text's vector is a weighted sum over all its spans, and the weights are the explanation.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", equations 2, 3 and 6; the softmax over
scores is corrections.md A0.1, the learnt factor of the product A0.4, biases A0.8. Equation 1's general form and the
exact product are there for comparison.
"""

from typing import Literal, get_args

import torch
from torch import Tensor, nn

from pellucid.base.checks import at_least, between, one_of
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import poolers
from pellucid.models.pooling.heaviest_alone import at_parts, attend_to_heaviest
from pellucid.models.pooling.pooler import (
    Attended,
    Of,
    PieceTensors,
    Pooled,
    Pooler,
    joined,
    merge_parts,
    parts_with,
    second_text,
)
from pellucid.models.pooling.span_attention import (
    MOST_UNITS,
    FeedForward,
    SpanVectors,
    attend_to_spans,
    attend_to_vectors,
    average_spans,
    average_vectors,
    check_size,
    exact_vectors,
)
from pellucid.models.span_kernel.packs import SpanLimits, latest_starts, legal_spans
from pellucid.run.trace import SpanTrace
from pellucid.text.units import SPECIAL

Weights = Literal["learned", "uniform"]
Within = Literal["text", "sentence"]
Legal = Literal["all", "with_content"]
Interaction = Literal["factored", "exact", "feed_forward"]
MOST_START = 1000


@poolers.add("span", explains="span_weights")
class SpanPooler(Pooler):
    """All spans i..j of words or pieces: h_ij = tanh(W1 h_i + W2 h_j + W3 (h_i - h_j) + (W4 h_i) * (W4 h_j)).

    unit: "word" (default) or "piece", what spans begin and end with.
    max_width: the most units of a span, 1 or more; None: no limit.
    within: "text", or "sentence": no span crosses the border of a sentence.
    spans: "all", or "with_content": without spans of punctuation and function words alone (`text/lexicon.py`;
    English); a text without any content word keeps all its spans.
    weights: "learned", or "uniform" for the ablation that averages all spans.
    score_start: standard deviation of the score vector's first weights, 0 to 1,000; with a small one all spans may keep
        equal weights.
    span_width: numbers of a span vector and of the pooled vector; fewer than the encoder's width save time: the h_i are
    then projected once. None: the encoder's width.
    interaction: "factored" as above; "exact", W4 (h_i * h_j); "feed_forward", equation 1. The last two compute all span
    vectors at once, and refuse long texts.
    of: "all" spans of a pair have weights that sum to 1; "second": only spans of the second text have weights; "each":
    those of each text sum to a half. A single text has all its spans.
    n_heaviest: how many spans the answer uses, 1 or more, the heaviest ones that share no word (or piece); all others
        weigh 0. None: all.
    layer: the encoder's blocks above this one are left out, 1 or more, so states have read less of their context; None:
        all blocks.
    layer_mix: spans are built from a learnt mean of the states of all blocks and of what the first one reads.
    """

    def __init__(
        self,
        width: int,
        *,
        unit: str = "word",
        max_width: int | None = None,
        within: Within = "text",
        spans: Legal = "all",
        weights: Weights = "learned",
        score_start: float = 0.05,
        span_width: int | None = None,
        interaction: str = "factored",
        of: Of = "all",
        n_heaviest: int | None = None,
        layer: int | None = None,
        layer_mix: bool = False,
    ) -> None:
        super().__init__()
        one_of("unit", unit, ("word", "piece"))
        one_of("within", within, get_args(Within))
        one_of("spans", spans, get_args(Legal))
        one_of("weights", weights, get_args(Weights))
        one_of("of", of, get_args(Of))
        for name, value in (("max_width", max_width), ("n_heaviest", n_heaviest), ("layer", layer)):
            if value is not None:
                at_least(name, value, 1)
        if n_heaviest is not None and weights == "uniform":
            raise BadSetting(
                "n_heaviest chooses spans by their weights, and weights='uniform' gives all the same; leave one of "
                "them away."
            )
        between("score_start", score_start, 0, MOST_START)
        one_of("interaction", interaction, get_args(Interaction))
        self.unit, self.max_width, self.within, self.weights = unit, max_width, within, weights
        self.spans, self.interaction = spans, interaction
        self.of, self.n_heaviest, self.layer, self.layer_mix = of, n_heaviest, layer, layer_mix
        self.reads_sentences, self.reads_content = within == "sentence", spans == "with_content"
        self.most_units = None if interaction == "factored" else MOST_UNITS
        self.pooled_width = width if span_width is None else _narrower(span_width, width)
        self._make_layers(self.pooled_width)
        self._start_layers(score_start)
        self.narrow = None if span_width is None else _projection(width, span_width)

    def _make_layers(self, width: int) -> None:
        if self.interaction == "feed_forward":
            self.feed_forward = FeedForward(width)
        else:
            self.start = nn.Linear(width, width)
            self.end = nn.Linear(width, width)
            self.difference = nn.Linear(width, width)
            self.product = nn.Linear(width, width)
        self.score = nn.Linear(width, 1)

    def _start_layers(self, score_start: float) -> None:
        """Draw the first weights: small ones in the layers, and scores that already differ a little.

        Where all weights are equal, the gradient of their concentration is 0: from smaller scores they stayed nearly
        equal, and the model explained nothing.
        """
        if self.interaction != "feed_forward":
            start_at_the_mean(self.start, self.end, self.difference, self.product)
        nn.init.normal_(self.score.weight, std=score_start)
        nn.init.zeros_(self.score.bias)

    def forward(self, states: Tensor, pieces: PieceTensors) -> Pooled:
        """[batch piece width] -> [batch span width]; a text without any unit pools to zero."""
        with torch.autocast(states.device.type, enabled=False):
            states = states.to(self.score.weight.dtype)
            parts, runs = merge_parts(states, pieces.word_index, self._segments(pieces), self.unit)
            parts = self._narrowed(parts)
            scores, pooled, normaliser = self._attend_to_texts(parts, runs, pieces)
        counts = tuple((runs >= 0).sum(1).tolist())
        trace = SpanTrace(scores, normaliser, counts, self.unit, self.max_width, n_heaviest=self.n_heaviest)
        return Pooled(vector=pooled, spans=trace)

    def _segments(self, pieces: PieceTensors) -> Tensor:
        """[batch piece]: the number of the text or sentence whose border no span crosses."""
        if not self.reads_sentences or pieces.sentences is None:
            return pieces.segments
        return pieces.sentences

    def _attend_to_texts(self, parts: Tensor, runs: Tensor, pieces: PieceTensors) -> Attended:
        """Span attention in those texts that spans may lie in."""
        if self.of == "all":
            return self._attend(parts, self._limits(runs, pieces))
        second = self._parts_with((pieces.segments == 1).int(), pieces)
        if self.of == "second":
            return self._attend(parts, self._limits(second_text(runs, second), pieces))
        texts = (runs.masked_fill(second, SPECIAL), runs.masked_fill(~second, SPECIAL))
        return joined(*(self._attend(parts, self._limits(text, pieces)) for text in texts))

    def _parts_with(self, marked: Tensor, pieces: PieceTensors) -> Tensor:
        """[batch piece] 0 or 1 -> [batch part] bool: whether a part has a marked piece."""
        return parts_with(marked, pieces.word_index, self._segments(pieces), self.unit) > 0

    def _limits(self, runs: Tensor, pieces: PieceTensors) -> SpanLimits:
        """Which spans of these runs are legal."""
        if not self.reads_content or pieces.content is None:
            return SpanLimits(runs, self.max_width)
        content = self._parts_with((pieces.content > 0).int(), pieces)
        return SpanLimits(runs, self.max_width, latest_starts(content & (runs >= 0)))

    def vectors(self, states: Tensor, pieces: PieceTensors) -> SpanVectors:
        """For one text [1 piece width]: a function (first [span], last [span]) -> [span width], span vectors t_ij."""
        states = states.to(self.score.weight.dtype)
        parts, _ = merge_parts(states, pieces.word_index, self._segments(pieces), self.unit)
        parts = self._narrowed(parts)
        if self.interaction == "feed_forward":
            return lambda first, last: self.feed_forward.of_pairs(parts[0, first], parts[0, last])
        begin, end, factor = (projected[0] for projected in self._folded(parts))
        if self.interaction == "exact":
            return lambda first, last: torch.tanh(
                begin[first] + end[last] + self.product(parts[0, first] * parts[0, last])
            )
        return lambda first, last: torch.tanh(begin[first] + end[last] + factor[first] * factor[last])

    def _narrowed(self, parts: Tensor) -> Tensor:
        return parts if self.narrow is None else self.narrow(parts)

    @property
    def score_vector(self) -> Tensor:
        """[width]: what a span vector's product with is its score; 0 where all weights are equal by design."""
        return self.score.weight[0] if self.weights == "learned" else torch.zeros_like(self.score.weight[0])

    def _folded(self, parts: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The span vector needs a sum of one vector a start, one an end, and one product: fold W3 into both."""
        begin = nn.functional.linear(parts, self.start.weight + self.difference.weight, self.start.bias)
        end = nn.functional.linear(parts, self.end.weight - self.difference.weight, self.end.bias)
        return begin, end, self.product(parts)

    def _attend(self, parts: Tensor, limits: SpanLimits) -> Attended:
        if self.interaction != "factored":
            return self._attend_whole(parts, limits)
        begin, end, factor = self._folded(parts)
        if self.weights == "learned":
            results = attend_to_spans(begin, end, factor, self.score.weight[0], limits)
            if self.n_heaviest is None:
                return results
            vectors_of = lambda first, last: torch.tanh(  # noqa: E731
                at_parts(begin, first) + at_parts(end, last) + at_parts(factor, first) * at_parts(factor, last)
            )
            return attend_to_heaviest(results[0], self.n_heaviest, vectors_of, self.score.weight[0])
        scores, normaliser, weights = _uniform(limits, begin.dtype)
        return scores, average_spans(begin, end, factor, weights, limits), normaliser

    def _attend_whole(self, parts: Tensor, limits: SpanLimits) -> Attended:
        check_size(parts.shape[1], self.interaction)
        if self.interaction == "feed_forward":
            vectors = self.feed_forward(parts)
        else:
            begin, end, _ = self._folded(parts)
            vectors = exact_vectors(begin, end, parts, self.product)
        if self.weights == "learned":
            results = attend_to_vectors(vectors, self.score.weight[0], limits)
            if self.n_heaviest is None:
                return results
            examples = torch.arange(len(vectors), device=vectors.device)[:, None]
            vectors_of = lambda first, last: vectors[examples, first, last]  # noqa: E731
            return attend_to_heaviest(results[0], self.n_heaviest, vectors_of, self.score.weight[0])
        scores, normaliser, weights = _uniform(limits, parts.dtype)
        return scores, average_vectors(vectors, weights, limits), normaliser


def start_at_the_mean(start: nn.Linear, end: nn.Linear, difference: nn.Linear, product: nn.Linear) -> None:
    """Begin with h_ij near tanh of the mean of its two ends; the feed-forward form adds that mean by itself.

    The paper leaves the first weights open. From random matrices the encoder's features have to be learnt again: on
    SST-2, with one seed, dev accuracy after the first epoch was .841 against .869, and even after the second.
    """
    for layer in (start, end, difference, product):
        nn.init.normal_(layer.weight, std=0.02)
        nn.init.zeros_(layer.bias)
    with torch.no_grad():
        for layer in (start, end):
            layer.weight += torch.eye(layer.in_features) / 2


def _uniform(limits: SpanLimits, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """Scores, log-normaliser and log-weights of spans that all weigh the same."""
    exist = legal_spans(*limits)
    scores = torch.zeros_like(exist, dtype=dtype).masked_fill(~exist, float("-inf"))
    normaliser = exist.sum((1, 2)).to(dtype).log()
    return scores, normaliser, scores - normaliser[:, None, None].nan_to_num(neginf=0.0)


def _narrower(span_width: int, width: int) -> int:
    at_least("span_width", span_width, 1)
    if span_width > width:
        raise BadSetting(f"span_width={span_width} is more than the encoder's width; give {width} or less.")
    return span_width


def _projection(width: int, span_width: int) -> nn.Linear:
    """Orthonormal directions: an identity matrix does not fit; so no direction counts twice and lengths stay."""
    layer = nn.Linear(width, span_width, bias=False)
    nn.init.orthogonal_(layer.weight)
    return layer
