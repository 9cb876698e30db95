"""Straight paths from blank texts to a text: where they start, at which nodes a rule reads them, the shares that
follow.

Nodes and weights of the Gauss-Legendre rule are those of numpy.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor

from pellucid.base.checks import at_least, one_of
from pellucid.base.memory import index_on, to_device
from pellucid.run.forward_pass import ForwardPass, Points, sums_at
from pellucid.run.target import Explainable

Baselines = Literal["zero", "pad", "mask", "mean", "uniform"]
Rule = Literal["midpoint", "gauss_legendre", "left"]
MORE = (
    4  # times as many points are advised where the gap is too large; of the midpoint rule they leave a sixteenth of it
)


def nodes_of(rule: Rule, count: int) -> tuple[Tensor, Tensor]:
    """[node] in [0, 1] and their weights, which sum to 1.

    midpoint: the midpoints of equal steps; gauss_legendre: exact for polynomials of degree 2 count - 1; left: the
    steps' left ends.
    """
    one_of("rule", rule, get_args(Rule))
    if rule == "gauss_legendre":
        on_two, weights = np.polynomial.legendre.leggauss(count)  # on [-1, 1]
        return torch.from_numpy(on_two + 1) / 2, torch.from_numpy(weights) / 2
    first = 0.5 if rule == "midpoint" else 0.0
    nodes = (torch.arange(count, dtype=torch.float64) + first) / count
    return nodes, torch.full_like(nodes, 1 / count)


def blank_texts(run: ForwardPass, baselines: Baselines, n_baselines: int, method: str) -> Tensor:
    """[baseline example unit width]: one blank text; for "uniform", n_baselines texts of pieces drawn for each text.

    Special tokens are kept. Draws depend on the text alone, and more baselines extend fewer.
    """
    one_of("baselines", baselines, get_args(Baselines))
    at_least("n_baselines", n_baselines, 1)
    if baselines != "uniform":
        return run.blank(baselines)[None]
    pieces, embeddings = run.model.vocabulary, run.embeddings
    ids = torch.zeros(n_baselines, *embeddings.shape[:2], dtype=torch.long)
    for index, generator in enumerate(run.generators(method + " baselines")):
        length = run.batch.lengths[index]
        for baseline in range(n_baselines):
            drawn = torch.randint(len(pieces), (length,), generator=generator)
            ids[baseline, index, :length] = pieces[drawn]
    return torch.where(run.content[..., None], run.model.embed(ids.to(embeddings.device)), embeddings)


@dataclass(frozen=True)
class Lines:
    """Straight lines to each text from one or more blank ones.

    starts: [line example unit width], end: [example unit width], word embeddings or the states of a layer.
    """

    run: ForwardPass
    target: Explainable
    starts: Tensor
    end: Tensor
    layer: int | None = None

    def rise(self) -> Tensor:
        """[example]: the target at the text less its mean at the starts."""
        below = [self.run.at(start, self.layer).values(self.target) for start in self.starts]
        return self.run.values(self.target) - torch.stack(below).mean(0)

    def shares(self, nodes: Tensor, weights: Tensor, examples: Sequence[int] | None = None) -> Tensor:
        """[example unit]: difference times gradient, weighted over the nodes and averaged over the lines.

        examples: compute these only; the others get 0.
        """
        wanted, device = list(range(len(self.end)) if examples is None else examples), self.end.device
        line = torch.arange(len(self.starts)).repeat_interleave(len(nodes)).repeat(len(wanted))
        owner = torch.tensor(wanted).repeat_interleave(len(self.starts) * len(nodes))
        kind = torch.promote_types(self.end.dtype, torch.float32)
        node = nodes.to(self.end).repeat(len(wanted) * len(self.starts))
        weight = weights.to(device, kind).repeat(len(wanted) * len(self.starts)) / len(self.starts)
        line_there, owner_there = to_device(line, device), to_device(owner, device)

        def at(numbers: list[int]) -> Tensor:
            which = index_on(device, numbers)
            end = self.end[owner_there[which]]
            start = self.starts[line_there[which], owner_there[which]]
            return torch.lerp(start, end, node[which, None, None])

        def add(total: Tensor, numbers: list[int], gradient: Tensor) -> None:
            which, length = index_on(device, numbers), gradient.shape[1]
            examples_of = owner_there[which]
            difference = self.end[examples_of, :length] - self.starts[line_there[which], examples_of, :length]
            share = (difference * gradient).sum(-1).to(kind) * weight[which, None]
            total[:, :length].index_add_(0, examples_of, share)

        nothing = torch.zeros(self.end.shape[:2], dtype=kind, device=self.end.device)
        points = Points(owner.tolist(), at, self.layer)
        return sums_at(self.run, self.target, points, nothing.clone, add)


def lines_to(run: ForwardPass, target: Explainable, blanks: Tensor, layer: int | None = None) -> Lines:
    """The straight lines from blank texts [line example unit width of word embeddings], in a layer if one is given."""
    starts = torch.stack([run.at(blank).state(layer) for blank in blanks])
    return Lines(run, target, starts, run.state(layer), layer)


def gaps(scores: Tensor, rise: Tensor) -> Tensor:
    """[example]: |sum of scores [example unit] - rise| / |rise|."""
    return (scores.sum(-1) - rise.to(scores)).abs() / rise.to(scores).abs().clamp_min(1e-6)


def gap_caveats(
    run: ForwardPass, errors: Sequence[float], allowed: float, setting: str, value: int
) -> tuple[tuple[str, ...], ...]:
    """For each text what a gap above the allowed one means, and what makes it smaller; setting, value: of points on the
    path.

    Where the answer uses a few spans it jumps when others become the heaviest, and no gradient sees that.
    """
    if all(gap <= allowed for gap in errors):
        return ((),) * len(errors)
    spans, more = run.traces.at_hand.spans, f"{setting}={MORE * value}"
    if spans is not None and spans.n_heaviest is not None:
        why = (
            f"the model answers by its {spans.n_heaviest} heaviest spans and jumps where others become the heaviest, "
            f"which no {setting} mends; compare with occlusion."
        )
    else:
        why = f"raise {setting} before trusting single scores: {more} in Python, --set {more} on the command line."
    return tuple(
        (f"The scores miss {gap:.1%} of the rise they should add up to; {why}",) if gap > allowed else ()
        for gap in errors
    )


# Paths through the vocabulary: from a piece's embedding to the blank's, by way of other pieces' embeddings.
#
# Sanyal & Ren (2021), "Discretized Integrated Gradients for Explaining Language Models", section 3.

Strategy = Literal["greedy", "max_count"]
BLANK = -1  # the number of the anchor that is the blank itself


@dataclass(frozen=True)
class AnchorSearch:
    """How a path is searched: its number of anchors, the neighbours each is chosen from, and how one is chosen."""

    n_steps: int
    n_neighbours: int
    strategy: Strategy


@dataclass
class Anchors:
    """Finds paths to a blank on which every entry of the embedding moves one way only.

    table: [piece width], embeddings of the vocabulary; blank: [width].
    """

    table: Tensor
    blank: Tensor
    search: AnchorSearch
    _neighbours_of: dict[int, Tensor] = field(default_factory=dict, init=False, repr=False)

    def path(self, embedding: Tensor) -> Tensor:
        """[point width], n_steps + 2 points: the blank first, then anchors, then the embedding itself."""
        anchor, piece, points = embedding, BLANK, [embedding]
        used: list[int] = []
        for _ in range(self.search.n_steps):
            piece = self._next(anchor, piece, used)
            anchor = self.blank if piece == BLANK else self.table[piece]
            used.append(piece)
            points.append(self._monotone(points[-1], anchor))
        return torch.stack([self.blank, *reversed(points)])

    def _next(self, anchor: Tensor, piece: int, used: list[int]) -> int:
        """The neighbour that needs least change to lie between the anchor and the blank; BLANK where none is left."""
        numbers = self._neighbours(anchor, piece)
        neighbours = self.table[numbers]
        if self.search.strategy == "greedy":
            cost = (self._monotone(anchor, neighbours) - neighbours).norm(dim=-1)
        else:
            cost = -self._between(anchor, neighbours).sum(-1).to(self.table)
        is_used = torch.isin(numbers, torch.tensor([*used, piece], device=numbers.device))
        out = is_used | (neighbours == self.blank).all(-1) | (neighbours == anchor).all(-1)
        best = int(cost.masked_fill(out, float("inf")).argmin())
        return BLANK if bool(out[best]) else int(numbers[best])

    def _neighbours(self, anchor: Tensor, piece: int) -> Tensor:
        """[neighbour] numbers of the nearest pieces. One anchor at a time, so that no neighbour in a batch matters."""
        if piece == BLANK:
            return self._nearest(anchor)
        if piece not in self._neighbours_of:
            self._neighbours_of[piece] = self._nearest(anchor)
        return self._neighbours_of[piece]

    def _nearest(self, anchor: Tensor) -> Tensor:
        distances = self._squared_norms - 2 * (self.table @ anchor)
        return distances.topk(min(self.search.n_neighbours, len(self.table)), largest=False).indices

    @cached_property
    def _squared_norms(self) -> Tensor:
        return self.table.square().sum(-1)

    def _between(self, point: Tensor, candidates: Tensor) -> Tensor:
        """Whether entries of the candidates [..., width] lie between the blank's and those of the point."""
        low, high = torch.minimum(self.blank, point), torch.maximum(self.blank, point)
        return (candidates >= low) & (candidates <= high)

    def _monotone(self, point: Tensor, candidates: Tensor) -> Tensor:
        """The candidates; an entry that would turn back becomes 1 / n_steps of the way from the point to the blank."""
        step = point - (point - self.blank) / self.search.n_steps
        return torch.where(self._between(point, candidates), candidates, step)
