"""Kendall's tau-b and the overlap of the highest, written out pair by pair."""

import math
from itertools import combinations, permutations


def sign(number):
    """-1, 0 or 1."""
    return int(number > 0) - int(number < 0)


def tau_b(one, other):
    """Concordant minus discordant pairs, over the root of the pairs that are no ties on either side."""
    agree, ranked_one, ranked_other = 0, 0, 0
    for a, b in combinations(range(len(one)), 2):
        first, second = sign(one[a] - one[b]), sign(other[a] - other[b])
        agree += first * second
        ranked_one += first != 0
        ranked_other += second != 0
    return agree / math.sqrt(ranked_one * ranked_other) if ranked_one and ranked_other else math.nan


def top_overlap(one, other, k):
    """How many of the k highest both have, over k; the mean over all orders of words, by which equals stand on both
    sides.
    """
    shares = []
    for place in permutations(range(len(one))):
        tops = [
            sorted(range(len(one)), key=lambda word, scores=scores: (-scores[word], place[word]))[:k]
            for scores in (one, other)
        ]
        shares.append(sum(word in tops[1] for word in tops[0]) / k)
    return sum(shares) / len(shares)
