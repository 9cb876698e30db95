"""In which order the units of a text are edited."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Ranking:
    """units: their numbers, first to edit first; units that are not listed stay. replacements: unit -> the only text to put in its place,
    where the order has already settled it.
    """

    units: tuple[int, ...]
    replacements: Mapping[int, str] = field(default_factory=dict)


def highest_first(scores: Sequence[float] | np.ndarray) -> Ranking:
    """Units by falling score; equal ones in reading order."""
    return Ranking(tuple(sorted(range(len(scores)), key=lambda unit: (-float(scores[unit]), unit))))
