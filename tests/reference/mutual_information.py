"""Mutual information of two groupings and its ends, by a loop over pairs of groups."""

import math
from collections import Counter
from collections.abc import Hashable, Sequence


def entropy(groups: Sequence[Hashable]) -> float:
    """-sum p log p, in nats."""
    return -sum(n / len(groups) * math.log(n / len(groups)) for n in Counter(groups).values())


def mutual_information(one: Sequence[Hashable], other: Sequence[Hashable]) -> float:
    """The sum over pairs of p(a, b) log(p(a, b) / (p(a) p(b))), in nats."""
    total = len(one)
    first, second = Counter(one), Counter(other)
    return sum(
        n / total * math.log(n * total / (first[a] * second[b]))
        for (a, b), n in Counter(zip(one, other, strict=True)).items()
    )
