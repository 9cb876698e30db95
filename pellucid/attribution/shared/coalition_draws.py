"""Random coalitions of units: their sizes spread evenly over what is wanted, their members drawn by chance.

Draws are one stream a text: a larger number of draws begins with the smaller one's.
"""

from collections.abc import Callable, Iterator

import numpy as np
import torch

GOLDEN = (
    5**0.5 - 1
) / 2  # steps of this part of the whole fall evenly into every interval, however many there are


def places(generator: torch.Generator) -> Iterator[float]:
    """Numbers in [0, 1) that are each uniform and together more even than chance, from a random start."""
    place = float(torch.rand((), generator=generator, dtype=torch.float64))
    while True:
        yield place
        place = (place + GOLDEN) % 1


def coalitions(
    players: int, generator: torch.Generator, size_at: Callable[[float], int]
) -> Iterator[np.ndarray]:
    """[player] bool without end: as many present as size_at says of a number in [0, 1), all such sets alike."""
    for place in places(generator):
        present = np.zeros(players, dtype=bool)
        order = torch.rand(players, generator=generator, dtype=torch.float64).argsort().numpy()
        present[order[: size_at(place)]] = True
        yield present
