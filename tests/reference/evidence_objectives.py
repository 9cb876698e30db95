"""Objectives about a model's spans written out for one text, span by span, in plain numbers."""

import math
from collections.abc import Callable, Mapping, Sequence

Span = tuple[int, int]
Answer = Sequence[float]  # probabilities of the classes


def divergence(one: Answer, other: Answer) -> float:
    """Kullback-Leibler divergence in nats."""
    return sum(p * math.log(p / q) for p, q in zip(one, other, strict=True))


def draw(weights: Mapping[Span, float], point: float) -> Span:
    """The span that a point from 0 to below 1 lands on, where spans lie side by side in the order of their ends."""
    reached = 0.0
    for span in sorted(weights):
        reached += weights[span]
        if point * sum(weights.values()) < reached:
            return span
    return max(weights)


def covered(spans: Sequence[Span]) -> set[int]:
    """The units of some spans."""
    return {unit for first, last in spans for unit in range(first, last + 1)}


def read_alone(
    weights: Mapping[Span, float],
    points: Sequence[Sequence[float]],
    whole: Answer,
    read: Callable[[set[int]], Answer],
) -> float:
    """The mean, over draws, of the divergence from the whole text's answer to that of the drawn units alone."""
    costs = [divergence(whole, read(covered([draw(weights, point) for point in some]))) for some in points]
    return sum(costs) / len(costs)


def attributed(weights: Mapping[Span, float], scores: Sequence[float], n_spans: int) -> float:
    """-log of the weights of the spans with the highest sums of scores less their mean, one after another, without
    common units.
    """
    mean = sum(scores) / len(scores)
    sums = {(i, j): sum(scores[unit] - mean for unit in range(i, j + 1)) for i, j in weights}
    best: list[Span] = []
    for span in sorted(sums, key=lambda span: -sums[span]):
        apart = all(span[1] < first or span[0] > last for first, last in best)
        if len(best) < n_spans and apart and (not best or sums[span] > 0):
            best.append(span)
    return sum(-math.log(weights[span]) for span in best) / len(best)


def answer_by_all_spans(
    vectors: Mapping[Span, Sequence[float]],
    u: Sequence[float],
    head: Callable[[list[float]], Answer],
    label: int,
) -> float:
    """The cross-entropy of the label where every span weighs by the softmax of its vector's product with u."""
    scores = {span: sum(a * b for a, b in zip(vector, u, strict=True)) for span, vector in vectors.items()}
    total = sum(math.exp(score) for score in scores.values())
    pooled = [0.0] * len(u)
    for span, vector in vectors.items():
        pooled = [old + math.exp(scores[span]) / total * number for old, number in zip(pooled, vector, strict=True)]
    return -math.log(head(pooled)[label])


def leave_out(
    weights: Mapping[Span, float],
    points: Sequence[float],
    undecided: Answer,
    units: int,
    read: Callable[[set[int]], Answer],
) -> float:
    """The divergence from an undecided answer to that of the text without the drawn units."""
    spans = covered([draw(weights, point) for point in points])
    return divergence(undecided, read(set(range(units)) - spans))


def same_spans(one: Mapping[Span, float], other: Mapping[Span, float]) -> float:
    """The mean divergence of two readings' weights from their mean."""
    means = {span: (one[span] + other[span]) / 2 for span in one}
    parts = [weights[span] * math.log(weights[span] / means[span]) for weights in (one, other) for span in one]
    return sum(parts) / 2


def marked(weights: Mapping[Span, float], marks: set[int], inside: bool) -> float:
    """-log of the weight on spans whose units are all marked, or of which one is; 0 where there is no such span."""
    counts = [
        all(unit in marks for unit in range(i, j + 1)) if inside else any(unit in marks for unit in range(i, j + 1))
        for i, j in weights
    ]
    total = sum(weight for weight, counted in zip(weights.values(), counts, strict=True) if counted)
    return -math.log(total) if total else 0.0


def number_of_spans(weights: Mapping[Span, float]) -> float:
    """exp of the entropy."""
    return math.exp(-sum(weight * math.log(weight) for weight in weights.values()))


def reinforced_gradient(chances: Sequence[float], costs: Sequence[float]) -> list[float]:
    """The gradient of the expected cost by the scores whose softmax the chances are: p (cost - expected cost)."""
    expected = sum(chance * cost for chance, cost in zip(chances, costs, strict=True))
    return [chance * (cost - expected) for chance, cost in zip(chances, costs, strict=True)]


def weights_of_units(weights: Mapping[Span, float], units: int) -> list[float]:
    """For each unit the weight of all spans that it lies in."""
    return [sum(weight for (first, last), weight in weights.items() if first <= unit <= last) for unit in range(units)]


def margin(
    weights: Sequence[float],
    top: Sequence[float],
    margin: float,
    loss: Callable[[set[int]], float],
    left_out: bool,
) -> float:
    """The mean over shares of max(0, margin - how much the text's loss is better than that of a text without its
    heaviest units); or, of these units alone, max(0, margin - how much theirs is better than the text's).
    """
    units, costs = set(range(len(weights))), []
    for share in top:
        count = max(1, round(share * len(weights)))
        heaviest = set(sorted(units, key=lambda unit: (-weights[unit], unit))[:count])
        better = loss(units - heaviest) - loss(units) if left_out else loss(units) - loss(heaviest)
        costs.append(max(0.0, margin - better))
    return sum(costs) / len(costs)
