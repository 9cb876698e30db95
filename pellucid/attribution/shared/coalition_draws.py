"""Random coalitions of units: their sizes are spread evenly, and their members are drawn at random.

Each text has one sequence of draws: the first 50 of 100 draws are those of a run with 50.
"""

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np
import torch

GOLDEN = (5**0.5 - 1) / 2  # multiples of it, less their whole part, fill [0, 1) evenly however many there are
AT_ONCE = 64  # coalitions of one text


def even_numbers(generator: torch.Generator) -> Iterator[float]:
    """An endless sequence in [0, 1) from a random start: each number is uniform, and all are spread more evenly than by chance."""
    number = float(torch.rand((), generator=generator, dtype=torch.float64))
    while True:
        yield number
        number = (number + GOLDEN) % 1


def coalitions(
    players: int, generator: torch.Generator, size_at: Callable[[float], int]
) -> Iterator[np.ndarray]:
    """An endless sequence of coalitions [player] bool. size_at: number in [0, 1) -> players present; sets of a size are equally likely."""
    numbers = even_numbers(generator)
    while True:
        sizes = np.array([size_at(number) for number in islice(numbers, AT_ONCE)])
        keys = torch.rand(AT_ONCE, players, generator=generator, dtype=torch.float64).numpy()
        yield from keys.argsort(1).argsort(1) < sizes[:, None]
