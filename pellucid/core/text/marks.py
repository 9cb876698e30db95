"""Which units of a text people marked as the reason for its label."""

from collections.abc import Sequence

import numpy as np

from pellucid.core.text.example import Rationale
from pellucid.core.text.units import Units


def marked(units: Units, marks: Sequence[Rationale]) -> np.ndarray | None:
    """[unit] bool over the units that are text: True where one overlaps a mark; None without marks."""
    if not marks:
        return None
    return np.array([any(_overlaps(units, index, mark) for mark in marks) for index in units.content])


def _overlaps(units: Units, index: int, mark: Rationale) -> bool:
    same = units.segment[index] == mark.segment
    return same and units.start[index] < mark.end and units.end[index] > mark.start
