"""Span attention without the tensor of spans: exact, streamed tile by tile, in plain PyTorch.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models". Equation 6 gives the vector of the span
from unit i to unit j; with W1 and W3 folded, W2 and W3 folded (`a`, `c`) and p = W4 h it reads

    t_ij = tanh(a_i + c_j + p_i * p_j),    o_ij = u . t_ij,
    alpha = softmax(o) over the legal spans,    pooled = sum of alpha_ij t_ij.

Where we leave the paper and its code:

- equation 4 divides raw scores; like the released code we take the softmax;
- equation 6 splits W4 (h_i * h_j) into two square roots, true only for a diagonal W4; like the released code
  we use (W4 h_i) * (W4 h_j);
- the released code holds every t_ij at once (units x units x width numbers, several times over). Here a tile of
  them lives for a moment, and the backward pass computes it again: memory grows with units x units only;
- illegal spans are never computed or get a score of minus infinity, where the code subtracts a million.

tanh z is computed as 2 sigmoid(2z) - 1: on the CPUs we measured, PyTorch's sigmoid takes a sixth of the time of its
tanh. Sums are taken per tile and then added up, because one float32 sum over 100,000 spans loses a digit.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

# A tile and its copy should stay in the cache of a CPU; a GPU wants fewer, larger steps.
TILE_ELEMENTS = {"cpu": 2**19}
TILE_ELEMENTS_ELSEWHERE = 2**24
# Each strip of r rows computes r (r - 1) / 2 spans below the diagonal in vain: few rows, then, for short texts.
ROWS_ALONE, ROWS_SHARED = 8, 4
CAP = 8
# Texts share tiles while the shortest has this part of the longest one's length.
SHORTEST_SHARE = 0.8


def span_attention_scores(
    a: Tensor, c: Tensor, p: Tensor, u: Tensor, segments: Tensor, max_width: int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Scores o [batch, unit, unit], pooled vectors [batch, width] and log-normalisers [batch] of span attention.

    a, c, p: [batch, unit, width]; u: [width]. segments: see `legal_spans`. All three results may be differentiated,
    once. Weights are `(scores - log_normaliser[:, None, None]).exp()`, 0 outside the legal spans.
    Half-precision inputs are computed in float32; pooled returns to their type, the two statistics stay float32.
    An example without legal spans has pooled 0 and a log-normaliser of minus infinity: it is for the caller to refuse.
    """
    _check(a, c, p, segments, max_width)
    if u.shape != a.shape[-1:]:
        raise ValueError(f"u must have shape (width,)={tuple(a.shape[-1:])}. Got {tuple(u.shape)}.")
    with _full_precision(a):
        packs = _packs(segments.to(a.device), a.shape[-1], max_width)
        scores, pooled, log_normaliser = _SpanAttention.apply(*_same_type(a, c, p, u), packs)
    return scores, pooled.to(a.dtype), log_normaliser


def span_average(
    a: Tensor, c: Tensor, p: Tensor, log_weights: Tensor, segments: Tensor, max_width: int | None = None
) -> Tensor:
    """Sum of given weights times t_ij, [batch, width]: the paper's AvgSelf-Explaining when they are uniform.

    log_weights: [batch, unit, unit], read at the legal spans only, taken as they are and as constants.
    """
    _check(a, c, p, segments, max_width)
    expected = (*segments.shape, segments.shape[1])
    if log_weights.shape != expected:
        raise ValueError(
            f"log_weights must have shape (batch, unit, unit)={expected}. Got {tuple(log_weights.shape)}."
        )
    with _full_precision(a):
        packs = _packs(segments.to(a.device), a.shape[-1], max_width)
        pooled = _SpanAverage.apply(*_same_type(a, c, p, log_weights.detach().to(a.device)), packs)
    return pooled.to(a.dtype)


def legal_spans(segments: Tensor, max_width: int | None = None) -> Tensor:
    """Which spans exist: bool [batch, unit, unit], true where i <= j, both in one segment, j - i < max_width.

    segments: [batch, unit] integers, one a position; -1 marks what is no unit (special tokens, padding).
    A number that returns after a gap is the same segment; number each run anew to forbid spans across it.
    """
    n_units = segments.shape[1]
    band = torch.ones(n_units, n_units, dtype=torch.bool, device=segments.device).triu_()
    if max_width is not None:
        band.tril_(max_width - 1)
    starts = segments.masked_fill(segments < 0, -2)  # so that no unit equals a non-unit, nor two of these each other
    ends = segments.masked_fill(segments < 0, -1)
    return (starts[:, :, None] == ends[:, None, :]).logical_and_(band)


class _Pack(NamedTuple):
    """Texts of similar length that share tiles. A text is one segment of one example, a slot one of its units."""

    example: Tensor  # [text]
    unit: Tensor  # [text, slot]: where in [batch * unit]; past a text's end its last unit, so that no value is wild
    legal: Tensor  # [text, slot, slot]: false past a text's end
    tiles: list[tuple[slice, slice]]  # rows and columns of slots

    def units(self, values: Tensor) -> Tensor:
        """[batch, unit, width] -> [text, slot, width]"""
        return values.flatten(0, 1).index_select(0, self.unit.flatten()).view(*self.unit.shape, -1)

    def spans(self, values: Tensor, outside: float) -> Tensor:
        """[batch, unit, unit] -> [text, slot, slot], `outside` where a span is not legal."""
        found = values.flatten()[self._places(values.shape[-1])]
        return found.masked_fill_(~self.legal, outside)

    def write_spans(self, values: Tensor, into: Tensor) -> None:
        into.view(-1)[self._places(into.shape[-1])[self.legal]] = values[self.legal]

    def _places(self, n_units: int) -> Tensor:
        return (self.unit * n_units)[:, :, None] + (self.unit % n_units)[:, None, :]


class _SpanAttention(Function):
    @staticmethod
    def forward(ctx, a, c, p, u, packs):
        batch, n_units, _ = a.shape
        scores = a.new_full((batch, n_units, n_units), -torch.inf)
        parts = _Parts(a)
        buffer = _buffer(packs, a)
        twice_u = 2 * u
        for pack in packs:
            illegal = ~pack.legal
            pack_scores = scores.new_full(pack.legal.shape, -torch.inf)
            for rows, columns, sigmoid in _sigmoids(pack, a, c, p, buffer):
                half_tanh = sigmoid.sub_(0.5)  # centred first: y = 2 sum(alpha s) - 1 would lose a digit
                tile = (half_tanh @ twice_u).masked_fill_(illegal[:, rows, columns], -torch.inf)
                pack_scores[:, rows, columns] = tile
                parts.add(pack.example, tile, half_tanh)
            pack.write_spans(pack_scores, into=scores)
        log_normaliser, pooled = parts.joined()
        ctx.save_for_backward(a, c, p, u, scores, pooled, log_normaliser)
        ctx.packs = packs
        return scores, pooled, log_normaliser

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_scores, grad_pooled, grad_log_normaliser):
        a, c, p, u, scores, pooled, log_normaliser = ctx.saved_tensors
        grads = [torch.zeros_like(x) for x in (a, c, p, u)]
        # A score moves pooled by alpha (t - pooled); G . t = 2 G . sigmoid - sum(G) leaves this part for every span:
        shift = grad_log_normaliser - (grad_pooled * pooled).sum(1) - grad_pooled.sum(1)
        with _full_precision(a):
            buffers = _buffer(ctx.packs, a), _buffer(ctx.packs, a)
            for pack in ctx.packs:
                weights = (pack.spans(scores, -torch.inf) - log_normaliser[pack.example, None, None]).exp_()
                direct = pack.spans(grad_scores, 0.0).addcmul_(weights, shift[pack.example, None, None])
                learned = _Learned(u, direct, grads[3])
                _backward(pack, (a, c, p), grads, weights, grad_pooled[pack.example], buffers, learned)
        return *grads, None


class _SpanAverage(Function):
    @staticmethod
    def forward(ctx, a, c, p, log_weights, packs):
        parts = _Parts(a)
        buffer = _buffer(packs, a)
        for pack in packs:
            pack_weights = pack.spans(log_weights, -torch.inf)
            for rows, columns, sigmoid in _sigmoids(pack, a, c, p, buffer):
                parts.add(pack.example, pack_weights[:, rows, columns], sigmoid.sub_(0.5))
        ctx.save_for_backward(a, c, p, log_weights)
        ctx.packs = packs
        log_sum, mean = parts.joined()
        return mean * log_sum.exp()[:, None]

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_pooled):
        a, c, p, log_weights = ctx.saved_tensors
        grads = [torch.zeros_like(x) for x in (a, c, p)]
        with _full_precision(a):
            buffers = _buffer(ctx.packs, a), _buffer(ctx.packs, a)
            for pack in ctx.packs:
                weights = pack.spans(log_weights, -torch.inf).exp_()
                _backward(pack, (a, c, p), grads, weights, grad_pooled[pack.example], buffers)
        return *grads, None, None


class _Parts:
    """Weighted sums of tanh over single tiles, to be joined into one mean an example."""

    def __init__(self, a: Tensor) -> None:
        # An empty part an example: those without spans need no case of their own.
        examples = torch.arange(len(a), device=a.device)
        lowest = a.new_full((len(a),), torch.finfo(a.dtype).min)
        self.parts = [(examples, lowest, torch.zeros_like(lowest), a.new_zeros(len(a), a.shape[-1]))]

    def add(self, example: Tensor, log_weights: Tensor, half_tanh: Tensor) -> None:
        """log_weights: [text, row, column]; half_tanh: [text, row, column, width]"""
        log_weights = log_weights.flatten(1)
        # Minus infinity minus itself is no number; minus infinity minus the lowest number is minus infinity.
        highest = log_weights.amax(1).clamp_(min=torch.finfo(log_weights.dtype).min)
        weights = (log_weights - highest[:, None]).exp_()
        weighted = torch.bmm(weights[:, None], half_tanh.flatten(1, 2))[:, 0]
        self.parts.append((example, highest, weights.sum(1), weighted))

    def joined(self) -> tuple[Tensor, Tensor]:
        """log of the sum of weights [batch], weighted mean [batch, width]; minus infinity and 0 for no span."""
        example, highest, total, weighted = (torch.cat(values) for values in zip(*self.parts, strict=True))
        _, lowest, zero, zeros = self.parts[0]
        peak = lowest.scatter_reduce(0, example, highest, "amax")
        share = (highest - peak[example]).exp()
        total = zero.index_add(0, example, total * share)
        weighted = zeros.index_add(0, example, weighted * share[:, None])
        return peak + total.log(), 2 * weighted / total.clamp(min=torch.finfo(total.dtype).tiny)[:, None]


class _Learned(NamedTuple):
    """What the backward pass needs when the weights were learned, beside what it needs when they were given."""

    u: Tensor
    direct: Tensor  # [text, slot, slot]: the gradient at each score, without the part that depends on its tanh
    grad_u: Tensor


def _backward(pack, inputs, grads, weights, grad_pooled, buffers, learned: _Learned | None = None) -> None:
    """Add one pack's gradients to `grads` (of a, c, p). The tanh of each tile is computed once more."""
    p = pack.units(inputs[2])
    pack_grads = [torch.zeros_like(p) for _ in range(3)]
    for rows, columns, sigmoid in _sigmoids(pack, *inputs, buffers[0]):
        grad = buffers[1][: sigmoid.numel()].view_as(sigmoid)
        torch.mul(weights[:, rows, columns, None], grad_pooled[:, None, None], out=grad)
        if learned is not None:
            grad_scores = _grad_scores(weights[:, rows, columns], learned.direct[:, rows, columns], grad_pooled, sigmoid)
            learned.grad_u.add_(grad_scores.flatten() @ sigmoid.flatten(0, 2), alpha=2).sub_(grad_scores.sum())
            grad.addcmul_(grad_scores[..., None], learned.u)
        torch.ops.aten.sigmoid_backward.grad_input(grad, sigmoid, grad_input=grad)
        _add_tile(grad, p, rows, columns, pack_grads, spare=sigmoid)
    for total, pack_grad in zip(grads, pack_grads, strict=False):
        # 1 - tanh^2 = 4 sigmoid (1 - sigmoid)
        total.view(-1, total.shape[-1]).index_add_(0, pack.unit.flatten(), pack_grad.flatten(0, 1), alpha=4)


def _grad_scores(weights: Tensor, direct: Tensor, grad_pooled: Tensor, sigmoid: Tensor) -> Tensor:
    # Row times transposed matrix: the product with a column is eleven times slower in a batched call on a CPU.
    projected = torch.bmm(grad_pooled[:, None], sigmoid.flatten(1, 2).transpose(1, 2)).view_as(weights)
    return torch.addcmul(direct, weights, projected, value=2)


def _add_tile(grad: Tensor, p: Tensor, rows: slice, columns: slice, totals: list[Tensor], spare: Tensor) -> None:
    """grad: at a_i + c_j + p_i * p_j. A span of one unit rightly counts twice for p."""
    grad_a, grad_c, grad_p = totals
    grad_a[:, rows] += grad.sum(2)
    grad_c[:, columns] += grad.sum(1)
    grad_p[:, rows] += torch.mul(grad, p[:, None, columns], out=spare).sum(2)
    grad_p[:, columns] += torch.mul(grad, p[:, rows, None], out=spare).sum(1)


def _sigmoids(pack: _Pack, a: Tensor, c: Tensor, p: Tensor, buffer: Tensor) -> Iterator[tuple[slice, slice, Tensor]]:
    """Rows, columns and sigmoid(2 z) [text, row, column, width] of every tile, each in the place of the last."""
    a, c, p = 2 * pack.units(a), 2 * pack.units(c), pack.units(p)
    for rows, columns in pack.tiles:
        left, right = p[:, rows, None], p[:, None, columns]
        shape = (len(p), left.shape[1], right.shape[2], p.shape[-1])
        tile = buffer[: shape[0] * shape[1] * shape[2] * shape[3]].view(shape)
        torch.addcmul(c[:, None, columns], left, right, value=2, out=tile)
        yield rows, columns, tile.add_(a[:, rows, None]).sigmoid_()


def _packs(segments: Tensor, width: int, max_width: int | None) -> list[_Pack]:
    """Every segment of every example, in packs, each no wider than its longest text."""
    n_units = segments.shape[1]
    flat = segments.flatten()
    unit = (flat >= 0).nonzero()[:, 0]
    key = unit // max(n_units, 1) * (int(flat.max()) + 1 if len(unit) else 1) + flat[unit]
    key, order = key.sort(stable=True)
    unit = unit[order]
    lengths = key.unique_consecutive(return_counts=True)[1]
    starts = lengths.cumsum(0) - lengths
    elements = TILE_ELEMENTS.get(segments.device.type, TILE_ELEMENTS_ELSEWHERE)
    return [
        _pack(unit, starts[texts], lengths[texts], n_units, max_width, elements // width)
        for texts in _shared(lengths.tolist(), elements // width)
    ]


def _shared(lengths: list[int], tile_spans: int) -> Iterator[list[int]]:
    """Indices of the texts that share a pack, longest first."""
    pack: list[int] = []
    for text in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        longest = lengths[pack[0]] if pack else 0
        full = (len(pack) + 1) * ROWS_SHARED * longest > tile_spans
        if pack and (full or lengths[text] < SHORTEST_SHARE * longest):
            yield pack
            pack = []
        pack.append(text)
    if pack:
        yield pack


def _pack(
    unit: Tensor, starts: Tensor, lengths: Tensor, n_units: int, max_width: int | None, tile_spans: int
) -> _Pack:
    n_slots = int(lengths[0])
    slots = torch.arange(n_units, device=unit.device)[:n_slots]
    inside = slots < lengths[:, None]
    unit = unit[starts[:, None] + torch.minimum(slots, lengths[:, None] - 1)]
    legal = (slots[:, None] <= slots) & inside[:, None, :]
    if max_width is not None:
        legal &= unit[:, None, :] - unit[:, :, None] < max_width
    tiles = list(_tiles(len(starts), n_slots, max_width, tile_spans))
    return _Pack(unit[:, 0] // n_units, unit, legal, tiles)


def _tiles(n_texts: int, n_slots: int, max_width: int | None, tile_spans: int) -> Iterator[tuple[slice, slice]]:
    """Strips of rows from the diagonal to the last column a span may reach, cut where they outgrow a tile."""
    least = ROWS_ALONE if n_texts == 1 else ROWS_SHARED
    bottom = 0
    while bottom < n_slots:
        top = bottom
        bottom = min(n_slots, top + max(least, min(CAP, tile_spans // (n_texts * (n_slots - top)))))
        last = n_slots if max_width is None else min(n_slots, bottom + max_width - 1)
        columns = max(1, tile_spans // (n_texts * (bottom - top)))
        for left in range(top, last, columns):
            yield slice(top, bottom), slice(left, min(left + columns, last))


def _buffer(packs: list[_Pack], a: Tensor) -> Tensor:
    """Room for the largest tile."""
    spans = [
        len(pack.unit) * (rows.stop - rows.start) * (columns.stop - columns.start)
        for pack in packs
        for rows, columns in pack.tiles
    ]
    return a.new_empty(max(spans, default=0) * a.shape[-1])


def _full_precision(values: Tensor) -> torch.autocast:
    return torch.autocast(values.device.type, enabled=False)


def _same_type(*values: Tensor) -> list[Tensor]:
    dtype = torch.float32
    for value in values:
        dtype = torch.promote_types(dtype, value.dtype)
    return [value.to(dtype) for value in values]


def _check(a: Tensor, c: Tensor, p: Tensor, segments: Tensor, max_width: int | None) -> None:
    if a.ndim != 3 or not a.shape == c.shape == p.shape:
        shapes = ", ".join(str(tuple(value.shape)) for value in (a, c, p))
        raise ValueError(f"a, c and p must have one shape (batch, unit, width). Got {shapes}.")
    if segments.shape != a.shape[:2]:
        raise ValueError(
            f"segments must have shape (batch, unit)={tuple(a.shape[:2])}. Got {tuple(segments.shape)}."
        )
    if segments.is_floating_point():
        raise ValueError(f"segments must be whole numbers, one a unit, -1 for none. Got {segments.dtype}.")
    if max_width is not None and max_width < 1:
        raise ValueError(f"max_width={max_width} leaves no span; give 1 or more, or None for no limit.")
