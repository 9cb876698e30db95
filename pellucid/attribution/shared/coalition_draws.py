"""Random coalitions of units: their sizes are spread evenly, their members drawn by chance.

Each text has one stream of draws: 100 draws start with those that 50 draws would be.
"""

from collections.abc import Callable, Iterator

import numpy as np
import torch

GOLDEN = (5**0.5 - 1) / 2  # multiples of it, less their whole part, fill [0, 1) evenly however many there are


def even_numbers(generator: torch.Generator) -> Iterator[float]:
    """Numbers in [0, 1) without end, from a random start: each is uniform, together they are more even than chance."""
    number = float(torch.rand((), generator=generator, dtype=torch.float64))
    while True:
        yield number
        number = (number + GOLDEN) % 1


def coalitions(
    players: int, generator: torch.Generator, size_at: Callable[[float], int]
) -> Iterator[np.ndarray]:
    """[player] bool without end. size_at: from a number in [0, 1) to how many are present; sets of a size are equally likely."""
    for number in even_numbers(generator):
        present = np.zeros(players, dtype=bool)
        order = torch.rand(players, generator=generator, dtype=torch.float64).argsort().numpy()
        present[order[: size_at(number)]] = True
        yield present
