"""Which methods of a comparison are drawn: those that were named, else the ones farthest above chance."""

from collections.abc import Sequence

import numpy as np

from pellucid.core.foundation.checks import known
from pellucid.core.results.table import CHANCE, Cell, Table

MOST = 7  # lines that a reader can tell apart in one panel


def methods_to_draw(table: Table, methods: Sequence[str] | None, most: int = MOST) -> tuple[list[str], int]:
    """The methods to draw, chance last, and how many are left out.

    methods: those to draw; None: all, or where there are more than `most` those that are best on average over the metrics,
    each counted by its difference from chance divided by the half width of that difference's interval.
    Raises `UnknownName` for a method that the table does not have.
    """
    own = [method for method in table.methods if method != CHANCE]
    for method in methods or ():
        known("method of this table", method, table.methods)
    if methods is not None:
        best = [method for method in methods if method != CHANCE]
    else:
        best = sorted(own, key=lambda method: -_distance(table, method))[:most]
    chance = [CHANCE] if CHANCE in table.methods else []
    return [*(method for method in own if method in best), *chance], len(own) - len(best)


def _distance(table: Table, method: str) -> float:
    distances = [_of_cell(cell) for cell in table.cells if cell.method == method and cell.over_chance]
    return float(np.mean(distances)) if distances else -np.inf


def _of_cell(cell: Cell) -> float:
    over = cell.over_chance
    assert over is not None
    half = max((over.high - over.low) / 2, 1e-9)
    distance = over.mean / half if cell.better == "higher" else -over.mean / half
    return distance if distance == distance else 0.0
