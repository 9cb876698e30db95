"""Selection of spans written out: every span of a text is tried.

Sun et al. (2020), section 5.3, and the other readings of corrections.md A0.10.
"""

from collections.abc import Sequence

Span = tuple[int, int]  # [first, end)


def all_spans(n: int) -> list[Span]:
    return [(first, end) for first in range(n) for end in range(first + 1, n + 1)]


def mean(scores: Sequence[float], span: Span) -> float:
    return sum(scores[span[0] : span[1]]) / (span[1] - span[0])


def highest_average(scores: Sequence[float]) -> float:
    return max(mean(scores, span) for span in all_spans(len(scores)))


def best_of_length(scores: Sequence[float], length: int) -> float:
    return max(mean(scores, span) for span in all_spans(len(scores)) if span[1] - span[0] == length)


def largest_centred_sum(scores: Sequence[float]) -> float:
    middle = mean(scores, (0, len(scores)))
    return max(sum(score - middle for score in scores[a:b]) for a, b in all_spans(len(scores)))


def gradient_of_probability(probability, vectors) -> list[float]:
    """For each piece the sum of |dp / d entry|, by central differences; vectors: [piece][entry], changed and put
    back.
    """
    step, sizes = 1e-4, []
    for vector in vectors:
        total = 0.0
        for entry in range(len(vector)):
            original = float(vector[entry])
            vector[entry] = original + step
            above = probability()
            vector[entry] = original - step
            below = probability()
            vector[entry] = original
            total += abs(above - below) / (2 * step)
        sizes.append(total)
    return sizes
