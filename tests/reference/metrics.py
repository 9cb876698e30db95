"""Every metric written out one text, one step, one unit at a time.

Games: "Decoding Layer Saliency in Transformers", appendix A.1. The others: DeYoung et al. (2020), "ERASER", in
the reading of the benchmark's released code. `without(gone)` answers for the text with a set of units taken out.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise, permutations
from math import ceil, floor

Probability = Callable[[frozenset[int]], float]
Right = Callable[[frozenset[int]], bool]
Span = tuple[int, int]


def ranking(scores: Sequence[float]) -> list[int]:
    left, order = list(range(len(scores))), []
    while left:
        best = left[0]
        for unit in left:
            if scores[unit] > scores[best]:
                best = unit
        left.remove(best)
        order.append(best)
    return order


def hidden_at(share: Fraction, units: int) -> int:
    return floor(share * units + Fraction(1, 2))


def area(curve: Sequence[bool]) -> float:
    strips = [Fraction(int(a) + int(b), 2) / (len(curve) - 1) for a, b in pairwise(curve)]
    return float(sum(strips))


def hiding(scores: Sequence[float], right: Right, steps: int = 20) -> float:
    order = ranking(scores)
    counts = [hidden_at(Fraction(step, steps), len(scores)) for step in range(steps + 1)]
    return area([right(frozenset(order[:count])) for count in counts])


def revealing(scores: Sequence[float], right: Right, steps: int = 20) -> float:
    order = ranking(scores)
    curve = []
    for step in range(steps + 1):
        shown = len(scores) - hidden_at(1 - Fraction(step, steps), len(scores))
        curve.append(right(frozenset(range(len(scores))) - frozenset(order[:shown])))
    return area(curve)


def top(scores: Sequence[float], fraction: str) -> frozenset[int]:
    return frozenset(ranking(scores)[: max(1, ceil(Fraction(fraction) * len(scores)))])


def comprehensiveness(scores: Sequence[float], without: Probability, fractions: Sequence[str]) -> float:
    falls = [without(frozenset()) - without(top(scores, fraction)) for fraction in fractions]
    return sum(falls) / len(falls)


def sufficiency(scores: Sequence[float], without: Probability, fractions: Sequence[str]) -> float:
    everything = frozenset(range(len(scores)))
    falls = [without(frozenset()) - without(everything - top(scores, fraction)) for fraction in fractions]
    return sum(falls) / len(falls)


def f1(precision: float, recall: float) -> float:
    return 0.0 if precision == 0 or recall == 0 else 2 * precision * recall / (precision + recall)


def token_f1(predicted: set[int], gold: set[int]) -> float:
    both = len(predicted & gold)
    return f1(both / len(predicted), both / len(gold))


def spans(words: set[int], texts: Sequence[int]) -> list[Span]:
    """[start, end) of the runs of neighbouring words that stand in the same text."""
    ranges = []
    for start in sorted(words):
        if start - 1 in words and texts[start - 1] == texts[start]:
            continue
        end = start + 1
        while end in words and texts[end] == texts[start]:
            end += 1
        ranges.append((start, end))
    return ranges


def iou(a: Span, b: Span) -> float:
    first, second = set(range(*a)), set(range(*b))
    return len(first & second) / len(first | second)


def span_precision_and_recall(predicted: list[Span], gold: list[Span], threshold: float = 0.5) -> tuple[float, float]:
    """As the benchmark counts: hits are predicted spans, also in recall."""
    hits = sum(max(iou(span, other) for other in gold) >= threshold for span in predicted)
    return hits / len(predicted), hits / len(gold)


def auprc(scores: Sequence[float], gold: set[int]) -> float:
    points = [(0.0, 1.0)]
    for threshold in sorted(set(scores), reverse=True):
        selected = {unit for unit, score in enumerate(scores) if score >= threshold}
        points.append((len(selected & gold) / len(gold), len(selected & gold) / len(selected)))
    return sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairwise(points))


def auprc_of_ties(scores: Sequence[float], gold: set[int]) -> float:
    """The mean over all orders that respect the scores."""
    areas = [auprc([-order.index(unit) for unit in range(len(order))], gold) for order in orders_of(scores)]
    return sum(areas) / len(areas)


def resampled_means(columns: Sequence[Sequence[float]], draws: Sequence[Sequence[int]]) -> list[list[float]]:
    return [[sum(columns[i][c] for i in draw) / len(draw) for c in range(len(columns[0]))] for draw in draws]


def decision_flip(scores: Sequence[float], predicted: Callable[[frozenset[int]], int]) -> float:
    order, label = ranking(scores), predicted(frozenset())
    for count in range(1, len(scores) + 1):
        if predicted(frozenset(order[:count])) != label:
            return count / len(scores)
    return 1.0


def words_needed(scores: Sequence[float], answer: Callable[[frozenset[int]], Sequence[float]], within: float) -> float:
    order, whole = ranking(scores), list(answer(frozenset()))
    label = whole.index(max(whole))
    for count in range(1, len(scores) + 1):
        alone = list(answer(frozenset(order[count:])))
        if alone.index(max(alone)) == label and abs(alone[label] - whole[label]) <= within:
            return count / len(scores)
    return 1.0


def deletion(scores: Sequence[float], right: Right, most: int) -> float | None:
    if len(scores) <= most or not right(frozenset()):
        return None
    order = ranking(scores)
    return sum(right(frozenset(order[:count])) for count in range(1, most + 1)) / most


def infidelity(scores: Sequence[float], sets: Sequence[frozenset[int]], without: Probability) -> float:
    """The best scale by trying many."""
    pairs = [(sum(scores[unit] for unit in one), without(frozenset()) - without(one)) for one in sets]
    total = sum(fall**2 for _, fall in pairs)
    largest = max(abs(fall) for _, fall in pairs) / (min((abs(s) for s, _ in pairs if s), default=1.0))
    scales = [largest * step / 20_000 for step in range(20_001)]
    return min(sum((scale * s - fall) ** 2 for s, fall in pairs) for scale in scales) / total


def sensitivity_n(scores: Sequence[float], sets: Sequence[frozenset[int]], without: Probability) -> float:
    sums = [sum(scores[unit] for unit in one) for one in sets]
    falls = [without(frozenset()) - without(one) for one in sets]
    a, b = sum(sums) / len(sums), sum(falls) / len(falls)
    both = sum((s - a) * (f - b) for s, f in zip(sums, falls, strict=True))
    return both / (sum((s - a) ** 2 for s in sums) * sum((f - b) ** 2 for f in falls)) ** 0.5


def ranks(scores: Sequence[float]) -> list[float]:
    """1 for the highest; equal scores share the mean of their ranks."""
    return [
        1 + sum(other > score for other in scores) + (sum(other == score for other in scores) - 1) / 2
        for score in scores
    ]


def orders_of(scores: Sequence[float]) -> list[tuple[int, ...]]:
    """All orders that respect the scores."""
    return [
        order for order in permutations(range(len(scores))) if all(scores[a] >= scores[b] for a, b in pairwise(order))
    ]


def reason_found(scores: Sequence[float], reason: Sequence[bool]) -> float:
    """At each word of the reason the precision; the mean over all orders that respect the scores."""
    orders = orders_of(scores)
    precisions = [
        sum(reason[unit] for unit in order[: rank + 1]) / (rank + 1)
        for order in orders
        for rank in range(len(order))
        if reason[order[rank]]
    ]
    return sum(precisions) / len(orders) / sum(reason)


def among_first(scores: Sequence[float], reason: Sequence[bool], k: int) -> float:
    """The mean over all orders that respect the scores."""
    orders = orders_of(scores)
    return sum(sum(reason[unit] for unit in order[:k]) for order in orders) / len(orders)


def reason_rank(scores: Sequence[float], reason: Sequence[bool]) -> float:
    own = [rank for rank, is_reason in zip(ranks(scores), reason, strict=True) if is_reason]
    return sum(own) / len(own) / len(scores)


def soft_fall(
    chances: Sequence[float],
    pieces: Sequence[Sequence[int]],
    embeddings: Sequence[Sequence[float]],
    draws: Sequence[Sequence[Sequence[float]]],
    answer: Callable[[list[list[float]]], float],
) -> float:
    """One number of one piece at a time: it stays where its draw is below the chance of its unit; special tokens
    stay.
    """
    falls = []
    for uniform in draws:
        edited = [list(vector) for vector in embeddings]
        for chance, of_unit in zip(chances, pieces, strict=True):
            for piece in of_unit:
                for number in range(len(edited[piece])):
                    if uniform[piece][number] >= chance:
                        edited[piece][number] = 0.0
        falls.append(answer([list(vector) for vector in embeddings]) - answer(edited))
    return sum(falls) / len(falls)
