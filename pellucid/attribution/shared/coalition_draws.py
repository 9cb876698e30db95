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
    players: int, generator: torch.Generator, sizes_at: Callable[[np.ndarray], np.ndarray], fewest: int = 0
) -> Iterator[np.ndarray]:
    """An endless sequence of coalitions [player] bool. sizes_at: [number] in [0, 1) -> how many players are present; sets of a size are
    equally likely. fewest: smaller ones are left out.
    """
    numbers = even_numbers(generator)
    while True:
        sizes = sizes_at(np.fromiter(islice(numbers, AT_ONCE), dtype=np.float64))
        keys = torch.rand(AT_ONCE, players, generator=generator, dtype=torch.float64).numpy()
        ranked = np.c_[np.sort(keys, axis=1), np.ones(AT_ONCE)]  # all keys are below 1
        present = keys < ranked[np.arange(AT_ONCE), sizes][:, None]
        yield from present[sizes >= fewest]
