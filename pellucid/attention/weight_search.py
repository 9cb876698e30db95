"""Other weights that keep a text's answer, and how far they lie from the model's own: two classes by bounds, more by a
search.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import torch
from torch import Tensor

from pellucid.attention.weighed_texts import WeighedText
from pellucid.base.checks import between
from pellucid.run.readout import total_variation

MARGIN = 1e-9  # answers stay so far inside the limit that rounding does not lead out of it
HALVINGS = 20


@dataclass(frozen=True, eq=False)
class AnswerRegion:
    """One text, and how far its answer may move: a total variation distance of `limit`."""

    text: WeighedText
    limit: float

    @cached_property
    def answer(self) -> Tensor:
        """[class]: the probabilities with the model's own weights."""
        return self.text.logits(self.text.weights[None])[0].softmax(-1)

    def distances(self, logits: Tensor) -> Tensor:
        """[... class] -> [...]: how far these answers lie from the model's own, 0 to 1."""
        return total_variation(logits.softmax(-1), self.answer)

    def admits(self, logits: Tensor) -> Tensor:
        """[... class] -> [...] bool: whether answers lie within the limit."""
        return self.distances(logits) <= self.limit - MARGIN

    def divergences(self, weights: Tensor, units: Tensor) -> Tensor:
        """Jensen-Shannon divergence from the model's own weights, in nats; weights: [... part] of units [... part],
        else 0.

        It is a sum over units, and a unit of weight 0 adds its own weight x log(2) / 2.
        """
        own_weights = self.text.weights[units]
        return math.log(2) / 2 * (1 - own_weights.sum(-1)) + _share(weights, own_weights).sum(-1)

    def longest_steps(self, points: Tensor, directions: Tensor, units: Tensor) -> Tensor:
        """[... part], [... part], [... part] -> [...]: how far one can go from admitted weights, 0 or more.

        It ends where a weight is 0 or where the answer leaves the region, which bisection finds.
        """
        falls = -directions
        ends = torch.where(falls > 0, points / falls.clamp_min(1e-300), torch.inf).amin(-1)
        logits = self.text.unit_logits[units]
        start, move = (torch.einsum("...p,...pc->...c", values, logits) for values in (points, directions))
        low, high = torch.zeros_like(ends), ends
        step = ends
        for _ in range(HALVINGS):
            inside = self.admits(start + step[..., None] * move)
            low, high = torch.where(inside, step, low), torch.where(inside, high, step)
            step = (low + high) / 2
        return torch.where(self.admits(start + ends[..., None] * move), ends, low)


def _share(weights: Tensor, own_weights: Tensor) -> Tensor:
    """What a unit adds to the divergence."""
    sums = (weights + own_weights).clamp_min(torch.finfo(weights.dtype).tiny)
    return (torch.xlogy(weights, 2 * weights / sums) + torch.xlogy(own_weights, 2 * own_weights / sums)) / 2


# Of two classes the farthest weights are known exactly: they lie on one unit, or on two.
#
# The answer depends on one number, the weighted sum of the units' log odds, and stays within the limit while that
# lies between two bounds. So the weights that keep it are a polytope. The divergence is convex and largest at one of
# its corners, and these are the units whose log odds lie between the bounds, and the pairs of units whose mean can be
# put on a bound.


def farthest_of_two_classes(region: AnswerRegion) -> Tensor:
    """[unit]: of all weights that keep the answer, those with the largest divergence from the model's own."""
    text = region.text
    odds = text.unit_logits[:, 1] - text.unit_logits[:, 0]
    probability = region.answer[1]
    bounds = [(probability + move).clamp(0, 1).logit() for move in (MARGIN - region.limit, region.limit - MARGIN)]
    single = (bounds[0] <= odds) & (odds <= bounds[1])
    shares = torch.stack([torch.diag(single.to(odds)), *(_pairs_on(odds, bound) for bound in bounds)])
    units = torch.arange(len(odds))
    pairs = torch.stack(torch.broadcast_tensors(units[:, None], units), -1)
    divergences = region.divergences(torch.stack([shares, 1 - shares], -1), pairs)
    alone = region.divergences(torch.ones(len(odds), 1, dtype=odds.dtype), units[:, None])
    divergences[0] = torch.diag(alone)
    corner, first, second = torch.unravel_index(divergences.where(shares > 0, -1.0).argmax(), shares.shape)
    weights = torch.zeros_like(odds)
    weights[second] = 1 - shares[corner, first, second]
    weights[first] = shares[corner, first, second]  # last: of a single unit both are the same
    return weights


def _pairs_on(odds: Tensor, bound: Tensor) -> Tensor:
    """[unit] -> [unit unit]: the share of the first of two units that puts their mean on the bound; 0 where none
    does.
    """
    above, below = odds[:, None], odds[None]
    possible = (above > bound) & (below < bound) & bound.isfinite()
    return ((bound - below) / (above - below)).where(possible, 0.0)


GRID = 65  # points of a pair's line
STARTS, CLIMBS = 3, 2
LINES, ROUNDS, ROUNDS_ON_ALL = 48, 6, 24  # lines of a round; rounds of a climb; of one on all units
MOST_TARGETS = 64
SMALLEST = 1e-12


def farthest_of_several_classes(region: AnswerRegion) -> Tensor:
    """[unit]: admitted weights far from the model's own, at least as far as the model's own weights themselves."""
    text = region.text
    units = torch.arange(len(text))

    def divergence(weights: Tensor) -> float:
        return float(region.divergences(weights, units))

    targets = _targets(region)
    few = [_exchanged(region, _on_few_units(region, order), targets) for order in range(STARTS)]
    starts = sorted([*_pairs(region), *few], key=divergence, reverse=True)
    climbed = [_climbed(region, weights) for weights in starts[:CLIMBS]]
    if len(text) <= text.unit_logits.shape[1]:  # too few units to reach every answer
        climbed.append(_climbed(region, text.weights, ROUNDS_ON_ALL))
    return max(climbed, key=divergence)


def _pairs(region: AnswerRegion) -> list[Tensor]:
    """Admitted weights on two units, or on one: the farthest few of a grid on all lines between units."""
    text = region.text
    first, second = torch.triu_indices(len(text), len(text), 1)
    shares = torch.linspace(0, 1, GRID, dtype=text.weights.dtype)[:, None]
    logits = shares[..., None] * text.unit_logits[first] + (1 - shares[..., None]) * text.unit_logits[second]
    units = torch.stack([first, second], -1)
    weights = torch.stack(torch.broadcast_tensors(shares, 1 - shares), -1).expand(GRID, len(first), 2)
    divergences = region.divergences(weights, units).where(region.admits(logits), -1.0)
    best = divergences.amax(0).topk(min(STARTS, len(first)))
    return [
        _dense(region, weights[divergences[:, pair].argmax(), pair], units[pair])
        for value, pair in zip(best.values, best.indices, strict=True)
        if value >= 0
    ]


def _on_few_units(region: AnswerRegion, order: int) -> Tensor:
    """[unit]: weights of the model's own answer on at most as many units as there are classes.

    Among one unit more than classes, weight can always move without moving the answer; it moves until a unit has none,
    to the side where the divergence is larger. order: 0 takes heavy units first, 1 light ones, others draw.
    """
    text = region.text
    weights = text.weights.clone()
    classes = text.unit_logits.shape[1]
    generator = torch.Generator().manual_seed(order)
    for _ in range(len(text)):
        used = (weights > 0).nonzero()[:, 0]
        if len(used) <= classes:
            break
        drawn = torch.rand(len(used), generator=generator, dtype=torch.float32)
        key = drawn if order > 1 else weights[used] * (1 - 2 * order)
        units = used[key.argsort(descending=True)[: classes + 1]]
        conditions = _conditions(region, units)
        direction = torch.linalg.svd(conditions).Vh[-1]
        weights[units] = _farther_end(region, weights[units], direction, units)
    return weights


def _farther_end(region: AnswerRegion, weights: Tensor, direction: Tensor, units: Tensor) -> Tensor:
    """[part]: weights moved along a direction that leaves the answer alone, until one of them is 0."""
    ends = []
    for way in (direction, -direction):
        steps = torch.where(way < 0, weights / -way.clamp_max(-SMALLEST), torch.inf)
        end = (weights + steps.min() * way).clamp_min(0)
        end[steps.argmin()] = 0.0
        ends.append(end * (weights.sum() / end.sum()))
    return max(ends, key=lambda end: float(region.divergences(end, units)))


def _exchanged(region: AnswerRegion, weights: Tensor, targets: Tensor) -> Tensor:
    """[unit]: weights after exchanging one unit at a time for as long as that leads farther."""
    classes = region.text.unit_logits.shape[1]
    if len(region.text) < classes:
        return weights
    best = weights
    units = weights.topk(classes).indices
    everything = torch.arange(len(weights))
    for _ in range(len(weights)):
        others = torch.ones_like(everything, dtype=torch.bool).index_fill(0, units, False).nonzero()[:, 0]
        neighbours = units.repeat(classes, len(others), 1)
        for place in range(classes):
            neighbours[place, :, place] = others
        sets = torch.cat([units[None], neighbours.flatten(0, 1)])
        nearby = _farthest_at(region, sets, targets)
        if nearby is None or region.divergences(*nearby) <= region.divergences(best, everything) + SMALLEST:
            break
        units = nearby[1]
        best = _dense(region, *nearby)
    return best


def _farthest_at(region: AnswerRegion, sets: Tensor, targets: Tensor) -> tuple[Tensor, Tensor] | None:
    """Sets of units [set part] and answers [target class] -> the farthest weights [part] with such an answer, and their
    units.
    """
    conditions = _conditions(region, sets)
    solvable = torch.linalg.det(conditions).abs() > SMALLEST
    sets, conditions = sets[solvable], conditions[solvable]
    ones = torch.ones(len(targets), 1, dtype=targets.dtype)
    answers = torch.cat([targets[:, 1:] - targets[:, :1], ones], -1)
    weights = torch.linalg.solve(conditions, answers.T).transpose(1, 2)  # [set target part]
    weights = weights.where(weights.abs() > SMALLEST, 0.0)
    logits = torch.einsum("stp,spc->stc", weights, region.text.unit_logits[sets])
    possible = (weights >= 0).all(-1) & region.admits(logits)
    divergences = region.divergences(weights, sets[:, None].expand_as(weights)).where(possible, -1.0)
    if not possible.any():
        return None
    set_index, target = torch.unravel_index(divergences.argmax(), divergences.shape)
    return weights[set_index, target] / weights[set_index, target].sum(), sets[set_index]


def _conditions(region: AnswerRegion, units: Tensor) -> Tensor:
    """[... part] -> [... class part]: what weights are multiplied with to give the answer's log odds, and their sum."""
    logits = region.text.unit_logits[units]
    odds = logits[..., 1:] - logits[..., :1]
    return torch.cat([odds, torch.ones_like(odds[..., :1])], -1).transpose(-1, -2)


def _targets(region: AnswerRegion) -> Tensor:
    """[target class]: logits of the model's own answer, and of answers on the border of the region."""
    moves = torch.stack(list(_moves(region.answer.shape[0])))[: MOST_TARGETS - 1]
    answers = region.answer + (region.limit - 2 * MARGIN) * moves
    return torch.cat([region.answer[None], answers[(answers > SMALLEST).all(-1)]]).log()


def _moves(classes: int) -> Iterator[Tensor]:
    """[class] each: from one class to another, then mixtures of two such; their total variation is 1."""
    identity = torch.eye(classes, dtype=torch.float64)
    corners = [identity[a] - identity[b] for a in range(classes) for b in range(classes) if a != b]
    yield from corners
    for first, second in combinations(corners, 2):
        for share in (0.5, 0.25, 0.75):
            mixture = share * first + (1 - share) * second
            size = mixture.abs().sum() / 2
            if size > share / 2:
                yield mixture / size


def _climbed(region: AnswerRegion, weights: Tensor, rounds: int = ROUNDS) -> Tensor:
    """[unit]: weights after rounds of looking along random lines, from points ever nearer to the best one.

    The lines of a round are drawn from the ends of the last round's, so that they are as long one way as the region is.
    """
    generator = torch.Generator().manual_seed(0)
    units = (weights > 0).nonzero()[:, 0]
    best = centre = weights[units]
    spread = torch.eye(len(units), dtype=weights.dtype) - 1 / len(units)  # no line changes the sum
    for index in range(rounds):
        draws = torch.randn(LINES, len(spread), generator=generator, dtype=weights.dtype)
        ends, divergences = _line_ends(region, centre, draws @ spread, units)
        if divergences.max() > region.divergences(best, units):
            best = ends[divergences.argmax()]
        spread = ends - ends.mean(0)
        middle = best + 0.5 ** (ROUNDS * index / rounds) * (ends.mean(0) - best)
        centre = middle if region.admits(middle @ region.text.unit_logits[units]) else best
    return _dense(region, best, units)


def _line_ends(region: AnswerRegion, centre: Tensor, directions: Tensor, units: Tensor) -> tuple[Tensor, Tensor]:
    """Where lines from the centre [part] along directions [line part] leave the region [line part], and how far that is
    [line].
    """
    points, all_units = centre.expand_as(directions), units.expand(directions.shape)
    steps = region.longest_steps(points, directions, all_units)
    ends = (points + steps[:, None] * directions).clamp_min(0)
    ends = ends / ends.sum(1, keepdim=True)
    logits = torch.einsum("lp,pc->lc", ends, region.text.unit_logits[units])
    return ends, region.divergences(ends, all_units).where(region.admits(logits), -1.0)


def _dense(region: AnswerRegion, weights: Tensor, units: Tensor) -> Tensor:
    """[part] of units [part] -> [unit]"""
    return torch.zeros_like(region.text.weights).scatter(0, units, weights)


# The weights farthest from a model's own that keep its answer, text by text.
#
# Jain & Wallace (2019), "Attention is not Explanation", section 4.2.2. They let Adam climb for 500 steps from five
# random starts, with a penalty on answers that move. The head is linear, so the answer is a function of as many
# numbers as there are classes, and weights on at most that many units reach every answer. That, and that the
# divergence is convex, makes the search short.

FEWEST = 2  # units


@dataclass(frozen=True, eq=False)
class FarthestWeights:
    """weights: [unit], 0 or more, their sum is 1. divergence: Jensen-Shannon, from the model's own, 0 to log 2 in nats.

    distance: total variation of the answers, at most the limit of the search.
    """

    weights: Tensor
    divergence: float
    distance: float


def farthest_weights(text: WeighedText, *, limit: float = 0.01) -> FarthestWeights:
    """Of a text of two units or more; limit: how far the answer may move, in total variation, .0001 to 1.

    Of two classes no other weights are farther. Of more classes the search is local, and the same for the same text.
    """
    between("limit", limit, 1e-4, 1)
    region = AnswerRegion(text, limit)
    classes = text.unit_logits.shape[1]
    weights = farthest_of_two_classes(region) if classes == 2 else farthest_of_several_classes(region)
    units = torch.arange(len(text))
    return FarthestWeights(
        weights, float(region.divergences(weights, units)), float(region.distances(text.logits(weights[None]))[0])
    )


def farthest_of_texts(texts: Sequence[WeighedText], *, limit: float = 0.01) -> list[FarthestWeights | None]:
    """One for each text in their order; None for a text of fewer than two units, whose weights cannot move."""
    return [farthest_weights(text, limit=limit) if len(text) >= FEWEST else None for text in texts]
