"""Span attention without the tensor of spans: exact, streamed tile by tile, in plain PyTorch.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models". Equation 6 gives the vector of the span
from unit i to unit j. With W3 folded into W1 (giving a) and into W2 (giving c), and p = W4 h, it reads

    t_ij = tanh(a_i + c_j + p_i * p_j),    o_ij = u . t_ij,
    alpha = softmax of o over the legal spans,    pooled = sum of alpha_ij t_ij    (equations 4 and 3).

Where we leave the paper and its code:

- equation 4 divides raw scores; like the released code we take the softmax;
- equation 6 splits W4 (h_i * h_j) into two square roots, true only of a diagonal W4; like the released code
  we use (W4 h_i) * (W4 h_j);
- the released code holds every t_ij at once, several times over. Here a tile of them lives for a moment and
  the backward pass computes it again: memory grows with units x units, not with units x units x width;
- illegal spans score minus infinity, and most are never computed; the code subtracts a million from each.

tanh z is computed as 2 sigmoid(2z) - 1: on the CPU we measured, PyTorch's sigmoid takes a sixth of its tanh's
time. Sums are taken tile by tile, then added up: one float32 sum over 100,000 spans loses a digit.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from pellucid.core.checks import at_least
from pellucid.core.errors import BadInput

# Least and most numbers in a tile. A CPU should keep it and its copy in its cache; other devices want fewer,
# larger steps. Work for few tiles is cut into smaller ones, or they would be most of a small batch's memory.
TILE_ELEMENTS = {"cpu": (2**17, 2**19), "elsewhere": (2**24, 2**24)}
FEWEST_TILES = 12
# Rows of a tile. Many make few, large steps; but r rows cost r (r - 1) / 2 spans below the diagonal, in vain.
FEWEST_ROWS, MOST_ROWS = 4, 16
# Texts share tiles as long as the shortest has this part of the longest one's length.
SHORTEST_SHARE = 0.8


def span_attention_scores(
    a: Tensor, c: Tensor, p: Tensor, u: Tensor, segments: Tensor, max_width: int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Scores o [batch, unit, unit], pooled vectors [batch, width], log-normalisers [batch] of span attention.

    a, c, p: [batch, unit, width]; u: [width]; segments: see `legal_spans`. All three results have gradients.
    The weights are `(scores - log_normaliser[:, None, None]).exp()`, 0 outside the legal spans.
    Half precision is computed in float32: pooled returns to the type of a, the other two stay in float32.
    An example without a legal span gets pooled 0 and log-normaliser minus infinity; the caller may refuse it.
    """
    _check(a, c, p, segments, max_width)
    if u.shape != a.shape[-1:]:
        raise BadInput(f"u must have shape (width,)={tuple(a.shape[-1:])}. Got {tuple(u.shape)}.")
    with _full_precision(a):
        packs = _packs(segments.to(a.device), a.shape[-1], max_width)
        scores, pooled, log_normaliser = _SpanAttention.apply(*_one_type(a, c, p, u), packs)
    return scores, pooled.to(a.dtype), log_normaliser


def span_average(
    a: Tensor, c: Tensor, p: Tensor, log_weights: Tensor, segments: Tensor, max_width: int | None = None
) -> Tensor:
    """Sum of t_ij under given weights, [batch, width]: the paper's AvgSelf-Explaining where they are uniform.

    log_weights: [batch, unit, unit], read at legal spans only; constants, used whether they sum to 1 or not.
    """
    _check(a, c, p, segments, max_width)
    square = (*segments.shape, segments.shape[1])
    if log_weights.shape != square:
        got = tuple(log_weights.shape)
        raise BadInput(f"log_weights must have shape (batch, unit, unit)={square}. Got {got}.")
    with _full_precision(a):
        packs = _packs(segments.to(a.device), a.shape[-1], max_width)
        pooled = _SpanAverage.apply(*_one_type(a, c, p, log_weights.detach()), packs)
    return pooled.to(a.dtype)


def legal_spans(segments: Tensor, max_width: int | None = None) -> Tensor:
    """Which spans exist: bool [batch, unit, unit], true where i <= j, in one segment, and j - i < max_width.

    segments: [batch, unit] whole numbers of at most 32 bits; below 0 where there is no unit (special tokens,
    padding). A number that returns after a gap is the same segment: number each run anew if spans must not
    cross the gap.
    """
    n_units = segments.shape[1]
    band = torch.ones(n_units, n_units, dtype=torch.bool, device=segments.device).triu_()
    if max_width is not None:
        at_least("max_width", max_width, 1)
        band.tril_(max_width - 1)
    starts, ends = (segments.masked_fill(segments < 0, none).int() for none in (-1, -2))  # never equal
    different = starts[:, :, None] ^ ends[:, None, :]  # on a CPU twice as fast as ==
    return different.logical_not().logical_and_(band)


class _Pack(NamedTuple):
    """Texts of similar length, which share tiles. A text is a segment of an example; slots hold its units."""

    example: Tensor  # [text]
    unit: Tensor  # [text, slot]: place in [batch * unit]; past a text's end its last unit, never a wild value
    legal: Tensor  # [text, slot, slot]: false past a text's end
    tiles: list[tuple[slice, slice]]  # rows and columns, of slots

    def units(self, values: Tensor) -> Tensor:
        """[batch, unit, width] -> [text, slot, width]"""
        return values.flatten(0, 1).index_select(0, self.unit.flatten()).view(*self.unit.shape, -1)

    def add_units(self, values: Tensor, into: Tensor) -> None:
        into.view(-1, into.shape[-1]).index_add_(0, self.unit.flatten(), values.flatten(0, 1))

    def spans(self, values: Tensor, outside: float) -> Tensor:
        """[batch, unit, unit] -> [text, slot, slot], with `outside` where a span is not legal."""
        found = values.flatten().index_select(0, self._places(values.shape[-1]))
        return found.view_as(self.legal).masked_fill_(~self.legal, outside)

    def write_spans(self, values: Tensor, into: Tensor) -> None:
        # Slots past a text's end point at its last unit: there minus infinity must not replace a score.
        into.view(-1).scatter_reduce_(0, self._places(into.shape[-1]), values.flatten(), "amax")

    def _places(self, n_units: int) -> Tensor:
        return ((self.unit * n_units)[:, :, None] + (self.unit % n_units)[:, None, :]).flatten()


class _SpanAttention(Function):
    @staticmethod
    def forward(ctx, a, c, p, u, packs):
        scores = a.new_full((*a.shape[:2], a.shape[1]), -torch.inf)
        means, buffer = _Means(a), _buffer(packs, a)
        for pack in packs:
            illegal = ~pack.legal
            pack_scores = scores.new_full(pack.legal.shape, -torch.inf)
            for tile, tanh in _tanhs(pack, a, c, p, buffer):
                tile_scores = (tanh @ u).masked_fill_(illegal[tile], -torch.inf)
                pack_scores[tile] = tile_scores
                means.add(pack.example, tile_scores, tanh)
            pack.write_spans(pack_scores, into=scores)
        log_normaliser, pooled = means.joined()
        ctx.save_for_backward(a, c, p, u, scores, pooled, log_normaliser)
        ctx.packs = packs
        return scores, pooled, log_normaliser

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_scores, grad_pooled, grad_log_normaliser):
        a, c, p, u, scores, pooled, log_normaliser = ctx.saved_tensors
        grads = [torch.zeros_like(value) for value in (a, c, p)]
        grad_u = torch.zeros_like(u)
        with _full_precision(a):
            # Through pooled a score's gradient is weight * grad_pooled . (t - pooled).
            shift = grad_log_normaliser - (grad_pooled * pooled).sum(1)
            buffers = _buffer(ctx.packs, a), _buffer(ctx.packs, a)
            for pack in ctx.packs:
                weights = (pack.spans(scores, -torch.inf) - log_normaliser[pack.example, None, None]).exp_()
                known = pack.spans(grad_scores, 0.0).addcmul_(weights, shift[pack.example, None, None])
                scoring = _Scoring(u, known, grad_u)
                _backward(pack, (a, c, p), grads, weights, grad_pooled[pack.example], buffers, scoring)
        return *grads, grad_u, None


class _SpanAverage(Function):
    @staticmethod
    def forward(ctx, a, c, p, log_weights, packs):
        means, buffer = _Means(a), _buffer(packs, a)
        for pack in packs:
            pack_weights = pack.spans(log_weights, -torch.inf)
            for tile, tanh in _tanhs(pack, a, c, p, buffer):
                means.add(pack.example, pack_weights[tile], tanh)
        ctx.save_for_backward(a, c, p, log_weights)
        ctx.packs = packs
        log_sum, mean = means.joined()
        return mean * log_sum.exp()[:, None]

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_pooled):
        a, c, p, log_weights = ctx.saved_tensors
        grads = [torch.zeros_like(value) for value in (a, c, p)]
        with _full_precision(a):
            buffers = _buffer(ctx.packs, a), _buffer(ctx.packs, a)
            for pack in ctx.packs:
                weights = pack.spans(log_weights, -torch.inf).exp_()
                _backward(pack, (a, c, p), grads, weights, grad_pooled[pack.example], buffers)
        return *grads, None, None


class _Means:
    """Weighted sums of tanh over single tiles, joined at the end into one mean an example."""

    def __init__(self, a: Tensor) -> None:
        self.lowest = torch.finfo(a.dtype).min
        # An empty part an example, so that those without spans need no case of their own.
        highest = a.new_full(a.shape[:1], self.lowest)
        example = torch.arange(len(a), device=a.device)
        self.parts = [(example, highest, torch.zeros_like(highest), a.new_zeros(len(a), a.shape[-1]))]

    def add(self, example: Tensor, log_weights: Tensor, tanh: Tensor) -> None:
        """log_weights: [text, row, column]; tanh: [text, row, column, width]"""
        log_weights = log_weights.flatten(1)
        # Minus infinity less itself is no number; less the lowest number it stays what it is.
        highest = log_weights.amax(1).clamp_(min=self.lowest)
        weights = (log_weights - highest[:, None]).exp_()
        weighted = torch.bmm(weights[:, None], tanh.flatten(1, 2))[:, 0]
        self.parts.append((example, highest, weights.sum(1), weighted))

    def joined(self) -> tuple[Tensor, Tensor]:
        """Log of the sum of weights [batch], weighted mean [batch, width]; minus infinity, 0 for no span."""
        example, highest, total, weighted = (torch.cat(values) for values in zip(*self.parts, strict=True))
        _, lowest, zero, zeros = self.parts[0]
        peak = lowest.scatter_reduce(0, example, highest, "amax")
        share = (highest - peak[example]).exp()
        total = zero.index_add(0, example, total * share)
        weighted = zeros.index_add(0, example, weighted * share[:, None])
        return peak + total.log(), weighted / total.clamp(min=torch.finfo(total.dtype).tiny)[:, None]


class _Scoring(NamedTuple):
    """What the backward pass needs besides when the weights came from scores."""

    u: Tensor
    known: Tensor  # [text, slot, slot]: the gradient at each score, as far as it is known without its tanh
    grad_u: Tensor

    def add(self, tile: tuple, weights: Tensor, grad_pooled: Tensor, tanh: Tensor, grad: Tensor) -> None:
        """Add the gradient that passes through a tile's scores to that of its tanh, and to that of u."""
        # Row times transposed matrix: a batched product with a column is ten times slower on a CPU.
        projected = torch.bmm(grad_pooled[:, None], tanh.flatten(1, 2).transpose(1, 2)).view_as(weights)
        grad_scores = torch.addcmul(self.known[tile], weights, projected)
        self.grad_u.add_(grad_scores.flatten() @ tanh.flatten(0, 2))
        grad.addcmul_(grad_scores[..., None], self.u)


def _backward(pack, inputs, grads, weights, grad_pooled, buffers, scoring: _Scoring | None = None) -> None:
    """Add one pack's part to the gradients of a, c and p, computing each tile's tanh once more."""
    a, c, p = inputs
    pack_p = pack.units(p)
    pack_grads = [torch.zeros_like(pack_p) for _ in grads]
    for tile, tanh in _tanhs(pack, a, c, p, buffers[0]):
        grad = buffers[1][: tanh.numel()].view_as(tanh)
        torch.mul(weights[tile][..., None], grad_pooled[:, None, None], out=grad)
        if scoring is not None:
            scoring.add(tile, weights[tile], grad_pooled, tanh, grad)
        torch.ops.aten.tanh_backward.grad_input(grad, tanh, grad_input=grad)
        _add_tile(tile, pack_p, grad, pack_grads, spare=tanh)
    for total, pack_grad in zip(grads, pack_grads, strict=True):
        pack.add_units(pack_grad, into=total)


def _add_tile(tile: tuple, p: Tensor, grad: Tensor, totals: list[Tensor], spare: Tensor) -> None:
    """grad: with respect to a_i + c_j + p_i * p_j. A span of one unit rightly counts twice for p."""
    _, rows, columns = tile
    grad_a, grad_c, grad_p = totals
    grad_a[:, rows] += grad.sum(2)
    grad_c[:, columns] += grad.sum(1)
    grad_p[:, rows] += torch.mul(grad, p[:, None, columns], out=spare).sum(2)
    grad_p[:, columns] += torch.mul(grad, p[:, rows, None], out=spare).sum(1)


def _tanhs(pack: _Pack, a: Tensor, c: Tensor, p: Tensor, buffer: Tensor) -> Iterator[tuple[tuple, Tensor]]:
    """Every tile with its t [text, row, column, width], each written over the one before."""
    a, c, p = 2 * pack.units(a), 2 * pack.units(c), pack.units(p)
    minus_one = p.new_tensor(-1.0)
    for rows, columns in pack.tiles:
        left, right = p[:, rows, None], p[:, None, columns]
        shape = (len(p), left.shape[1], right.shape[2], p.shape[2])
        tanh = buffer[: shape[0] * shape[1] * shape[2] * shape[3]].view(shape)
        torch.addcmul(c[:, None, columns], left, right, value=2, out=tanh)
        tanh.add_(a[:, rows, None]).sigmoid_()
        yield (slice(None), rows, columns), torch.add(minus_one, tanh, alpha=2, out=tanh)


def _packs(segments: Tensor, width: int, max_width: int | None) -> list[_Pack]:
    """Every text of the batch, without its padding; short texts share tiles with others of their length."""
    n_units = segments.shape[1]
    flat = segments.flatten()
    unit = (flat >= 0).nonzero()[:, 0]
    if not len(unit):
        return []
    text, order = (unit // n_units * (flat.max() + 1) + flat[unit]).sort(stable=True)
    unit = unit[order]
    lengths = text.unique_consecutive(return_counts=True)[1]
    starts = lengths.cumsum(0) - lengths
    tile_spans = _tile_spans(lengths.tolist(), width, segments.device.type)
    shared = _shared(lengths.tolist(), tile_spans)
    return [_pack(unit, starts[texts], lengths[texts], n_units, max_width, tile_spans) for texts in shared]


def _tile_spans(lengths: list[int], width: int, device: str) -> int:
    least, most = TILE_ELEMENTS.get(device, TILE_ELEMENTS["elsewhere"])
    all_elements = width * sum(length**2 // 2 for length in lengths)
    return min(most, max(least, all_elements // FEWEST_TILES)) // width


def _shared(lengths: list[int], tile_spans: int) -> Iterator[list[int]]:
    """Which texts share a pack; the longest comes first."""
    pack: list[int] = []
    for text in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        longest = lengths[pack[0]] if pack else 0
        full = (len(pack) + 1) * FEWEST_ROWS * longest > tile_spans
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
    slots = torch.arange(n_slots, device=unit.device)
    unit = unit[starts[:, None] + torch.minimum(slots, lengths[:, None] - 1)]
    legal = (slots[:, None] <= slots) & (slots < lengths[:, None])[:, None, :]
    if max_width is not None:
        legal &= unit[:, None, :] - unit[:, :, None] < max_width
    tiles = list(_tiles(len(starts), n_slots, max_width, tile_spans))
    return _Pack(unit[:, 0] // n_units, unit, legal, tiles)


def _tiles(n_texts: int, n_slots: int, max_width: int | None, tile_spans: int) -> Iterator[tuple]:
    """Strips of rows from the diagonal to the last column a span may reach, cut where they outgrow a tile."""
    bottom = 0
    while bottom < n_slots:
        top = bottom
        fitting = tile_spans // (n_texts * (n_slots - top))
        bottom = min(n_slots, top + max(FEWEST_ROWS, min(MOST_ROWS, fitting)))
        end = n_slots if max_width is None else min(n_slots, bottom + max_width - 1)
        step = max(1, tile_spans // (n_texts * (bottom - top)))
        for left in range(top, end, step):
            yield slice(top, bottom), slice(left, min(left + step, end))


def _buffer(packs: list[_Pack], a: Tensor) -> Tensor:
    """Room for the largest tile."""
    spans = [
        len(pack.unit) * (rows.stop - rows.start) * (columns.stop - columns.start)
        for pack in packs
        for rows, columns in pack.tiles
    ]
    return a.new_empty(max(spans, default=0) * a.shape[-1])


def _full_precision(a: Tensor) -> torch.autocast:
    return torch.autocast(a.device.type, enabled=False)


def _one_type(a: Tensor, *others: Tensor) -> list[Tensor]:
    dtype = torch.float32
    for value in (a, *others):
        dtype = torch.promote_types(dtype, value.dtype)
    return [value.to(dtype) for value in (a, *others)]


def _check(a: Tensor, c: Tensor, p: Tensor, segments: Tensor, max_width: int | None) -> None:
    if a.ndim != 3 or not a.shape == c.shape == p.shape:
        shapes = ", ".join(str(tuple(value.shape)) for value in (a, c, p))
        raise BadInput(f"a, c and p must have one shape (batch, unit, width). Got {shapes}.")
    if segments.shape != a.shape[:2]:
        expected = tuple(a.shape[:2])
        raise BadInput(f"segments must have shape (batch, unit)={expected}. Got {tuple(segments.shape)}.")
    if segments.is_floating_point():
        raise BadInput(f"segments must be whole numbers, -1 where there is no unit. Got {segments.dtype}.")
    if max_width is not None:
        at_least("max_width", max_width, 1)
