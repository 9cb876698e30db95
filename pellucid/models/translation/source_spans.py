"""The layer of source spans: which spans of the source a decoder's state asks for, and what they add to the next word.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", section 3.4, translate with span attention and do
not say how; our reading is corrections.md A0.16. Of the encoder's states h, t_ij as in equation 6; at step t with the
decoder's state d_t the score of a span is o_t(i, j) = (Q d_t) . t_ij / sqrt(width), alpha_t = softmax of o_t over the
source's spans (equation 4), and

    the state that writes = d_t + A d_t + B sum of alpha_t(i, j) t_ij.

What turns states into numbers for the vocabulary is linear, so a word's number is the decoder's own part plus the sum
over spans of alpha times what the span says of that word.
"""

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.overrides import handle_torch_function, has_torch_function

from pellucid.base.checks import at_least, of_kind, one_of

# The vectors of all spans of a source, once for every step that reads them.
#
# Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", equation 6, folded as in
# `models/span_kernel/kernel.py`: t_ij = tanh(a_i + c_j + p_i * p_j). A classifier asks its spans one question, and
# the kernel need not have the vectors in memory; a translator asks at every step, so one tanh a span serves all
# steps, and the vectors are kept: spans x width numbers a text, never steps x spans x width.


@dataclass(frozen=True)
class SpanPlaces:
    """Every span i..j with j - i < max_width among so many units, those with one start side by side.

    first, last: [span], the numbers of the units. blocks: for each start, where its spans stand.
    """

    first: Tensor
    last: Tensor
    blocks: tuple[slice, ...]


def span_places(n_units: int, max_width: int | None, device: torch.device) -> SpanPlaces:
    """The spans of a text of so many units; max_width: None for no limit."""
    width = n_units if max_width is None else min(max_width, n_units)
    counts = [min(width, n_units - start) for start in range(n_units)]
    ends = torch.tensor(counts).cumsum(0).tolist()
    blocks = tuple(slice(end - count, end) for end, count in zip(ends, counts, strict=True))
    first = torch.repeat_interleave(torch.arange(n_units), torch.tensor(counts))
    offsets = torch.arange(len(first)) - torch.tensor([block.start for block in blocks])[first]
    return SpanPlaces(first.to(device), (first + offsets).to(device), blocks)


def span_vectors(a: Tensor, c: Tensor, p: Tensor, places: SpanPlaces) -> Tensor:
    """[batch unit width] each -> [batch span width]; a, c, p have gradients of the first order.

    Like torch's own functions it passes itself to an active function mode, which can run `written_out` instead.
    """
    if has_torch_function((a, c, p)):
        return handle_torch_function(span_vectors, (a, c, p), a, c, p, places)
    return _SpanVectors.apply(a, c, p, places)


class _SpanVectors(Function):
    """The products of one start are a block, so no index is gathered and only the vectors are saved."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, c: Tensor, p: Tensor, places: Any) -> Tensor:
        vectors = a.new_empty(len(a), len(places.first), a.shape[-1])
        for start, block in enumerate(places.blocks):
            here, until = vectors[:, block], start + block.stop - block.start
            torch.mul(p[:, start : start + 1], p[:, start:until], out=here)
            here += a[:, start : start + 1]
            here += c[:, start:until]
        vectors.tanh_()
        ctx.save_for_backward(p, vectors)
        ctx.blocks = places.blocks
        return vectors

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        p, vectors = ctx.saved_tensors
        kind = torch.promote_types(p.dtype, torch.float32)  # many small numbers are added up
        grad_a, grad_c, grad_p = (torch.zeros_like(p, dtype=kind) for _ in range(3))
        for start, block in enumerate(ctx.blocks):
            until, of_block = start + block.stop - block.start, vectors[:, block]
            inner = grad[:, block] * (1 - of_block * of_block)
            grad_a[:, start] = inner.sum(1)
            grad_c[:, start:until] += inner
            grad_p[:, start] += (inner * p[:, start:until]).sum(1)
            grad_p[:, start:until] += inner * p[:, start : start + 1]
        return grad_a.to(p.dtype), grad_c.to(p.dtype), grad_p.to(p.dtype), None


def _written_out(a: Tensor, c: Tensor, p: Tensor, places: SpanPlaces) -> Tensor:
    """The same by functions that have rules of relevance."""
    first, last = places.first, places.last
    return torch.tanh(a[:, first] + c[:, last] + p[:, first] * p[:, last])


span_vectors.written_out = _written_out  # type: ignore[attr-defined]


Weights = Literal["learned", "uniform"]
Query = Literal["decoder", "static"]


@dataclass(frozen=True)
class SpanSettings:
    """Settings of the layer.

    max_width: the most pieces of a span, 1 or more; None: no limit. weights: "learned", or "uniform" for the ablation
    that averages all spans. query: "decoder" asks anew at each step; "static" has one question for all steps, as a
    classifier has. scale: divide scores by the square root of the width, as attention does; without it the weights are
    on one span before the layer has learnt where to look.
    before, after: how many special tokens stand before and after a source; no span contains them.
    Raises `BadSetting` for other values.
    """

    max_width: int | None = None
    weights: Weights = "learned"
    query: Query = "decoder"
    scale: bool = True
    before: int = 0
    after: int = 1

    def __post_init__(self) -> None:
        if self.max_width is not None:
            at_least("max_width", of_kind("max_width", self.max_width, int), 1)
        one_of("weights", self.weights, get_args(Weights))
        one_of("query", self.query, get_args(Query))
        of_kind("scale", self.scale, bool)
        for name in ("before", "after"):
            at_least(name, of_kind(name, getattr(self, name), int), 0)

    def record(self) -> dict[str, object]:
        """Every field by its name."""
        return asdict(self)


@dataclass(frozen=True)
class SpanReading:
    """What the layer read at each step.

    places: the spans, by numbers of source places. log_weights: [batch step span], log alpha; -inf for no span of the
        text.
    pooled: [batch step width], the sum of alpha t; 0 for a source without any span.
    """

    places: SpanPlaces
    log_weights: Tensor
    pooled: Tensor

    @property
    def weights(self) -> Tensor:
        """[batch step span]: alpha, which sums to 1 at each step, or to 0 for a source without any span."""
        return self.log_weights.exp()

    @property
    def concentration(self) -> Tensor:
        """[batch step]: the sum of alpha squared, from 1/spans (uniform) to 1 (one span)."""
        return self.weights.square().sum(-1)

    @property
    def entropy(self) -> Tensor:
        """[batch step]: -sum alpha log alpha in nats."""
        finite = self.log_weights.masked_fill(self.log_weights.isinf(), 0.0)
        return -(self.weights * finite).sum(-1)


class SourceSpans(nn.Module):
    """decoder's states [batch step width], encoder's states [batch place width] -> the states that write."""

    def __init__(self, width: int, settings: SpanSettings) -> None:
        super().__init__()
        self.settings = settings
        self.choose = SpanChoice(width, settings)
        self.decoder_part = nn.Linear(width, width, bias=False)
        self.span_part = nn.Linear(width, width, bias=False)
        nn.init.zeros_(self.decoder_part.weight)
        nn.init.normal_(self.span_part.weight, std=width**-0.5)

    def forward(self, states: Tensor, source: Tensor, mask: Tensor | None) -> Tensor:
        """mask: [batch place], 1 where there is a piece of the source; None: everywhere."""
        read = self.choose(states, source, mask)
        return states + self.decoder_part(states) + self.span_part(read.pooled.to(states.dtype))


class SpanChoice(nn.Module):
    """The weights of spans at each step; a module of its own, so that a run can be asked what it read."""

    def __init__(self, width: int, settings: SpanSettings) -> None:
        super().__init__()
        self.settings = settings
        self.start, self.end = nn.Linear(width, width), nn.Linear(width, width)
        self.difference, self.product = nn.Linear(width, width, bias=False), nn.Linear(width, width)
        static = settings.query == "static"
        self.query = nn.Parameter(torch.zeros(width)) if static else nn.Linear(width, width, bias=False)
        self._begin()

    def _begin(self) -> None:
        """Span vectors near tanh of the mean of both ends, as `poolers/span.py` begins."""
        for layer in (self.start, self.end, self.difference, self.product):
            nn.init.normal_(layer.weight, std=0.02)
        for layer in (self.start, self.end, self.product):
            nn.init.zeros_(layer.bias)
        with torch.no_grad():
            for layer in (self.start, self.end):
                layer.weight += torch.eye(layer.in_features) / 2
        nn.init.normal_(self.query if isinstance(self.query, nn.Parameter) else self.query.weight, std=0.05)

    def forward(self, states: Tensor, source: Tensor, mask: Tensor | None) -> SpanReading:
        """As in `SourceSpans`. Under autocast, as in training, products are rounded as autocast does; the softmax never
        is.
        """
        kind = _number_type(states, self.start.weight.dtype)
        with torch.autocast(states.device.type, enabled=False):
            own_type = self.start.weight.dtype
            states, source = states.to(own_type), source.to(own_type)
            places = span_places(source.shape[1], self.settings.max_width, source.device)
            legal = self._legal(source, mask, places)
            begin, end, factor = (part.to(kind) for part in self._folded(source))
            vectors = span_vectors(begin, end, factor, places)
            none = ~legal[:, None]
            scores = self._scores(states, vectors)
            scores = scores.masked_fill(none, torch.finfo(scores.dtype).min)
            log_weights = scores.log_softmax(-1).masked_fill(none, float("-inf"))
            # Not exp(log_weights): relevance treats softmax as weights, and an exponential function as any activation.
            weights = scores.softmax(-1).masked_fill(none, 0.0)
            pooled = torch.matmul(weights.to(kind), vectors)
            return SpanReading(places, log_weights, pooled.to(own_type))

    def _folded(self, source: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        linear = nn.functional.linear
        begin = linear(source, self.start.weight + self.difference.weight, self.start.bias)
        end = linear(source, self.end.weight - self.difference.weight, self.end.bias)
        return begin, end, self.product(source)

    def _legal(self, source: Tensor, mask: Tensor | None, places: SpanPlaces) -> Tensor:
        """[batch span]: both ends are pieces of text; a piece that is absent inside a span does not end it."""
        there = torch.ones(source.shape[:2], dtype=torch.bool, device=source.device)
        there = there if mask is None else mask.bool()
        rank = there.cumsum(1)
        text = there & (rank > self.settings.before) & (rank <= rank[:, -1:] - self.settings.after)
        return text[:, places.first] & text[:, places.last]

    def _scores(self, states: Tensor, vectors: Tensor) -> Tensor:
        """[batch step span]"""
        queries = self.query.expand_as(states) if isinstance(self.query, nn.Parameter) else self.query(states)
        queries = queries * states.shape[-1] ** -0.5 if self.settings.scale else queries
        scores = torch.matmul(queries.to(vectors.dtype), vectors.transpose(1, 2)).to(queries.dtype)
        return torch.zeros_like(scores) if self.settings.weights == "uniform" else scores


def _number_type(states: Tensor, own_type: torch.dtype) -> torch.dtype:
    """What products are computed in: the layer's own numbers, or those of autocast."""
    device = states.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else own_type
