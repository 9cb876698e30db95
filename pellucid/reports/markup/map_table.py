"""A map as tables: a line a layer, a column a word, each cell shaded by its score and with its number.

A text of many words becomes several tables below each other, as wide as a line of print. On a phone each scrolls, and the
names of the rows stay.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from pellucid.reports.markup.colours import ColourRange, shade
from pellucid.reports.markup.html import Markup, element, fragment, name, scroll_box, table
from pellucid.reports.wording.numbers import number
from pellucid.results.layers.word_map import WordMap

LINE, HALF_LINE = (
    84,
    56,
)  # characters of a line of columns, about: alone, and of several models beside each other
NARROWEST = 5  # characters of the narrowest column
LONGEST = 24  # characters of a word that are shown


def map_tables(
    one: WordMap, row_kind: str, label: str, colours: ColourRange | None, line: int = LINE
) -> Markup:
    """The map of one text. label: its name for screen readers. colours: of all rows; None: each row from 0 to its own largest."""
    own = (ColourRange(0.0, largest) for largest in np.abs(one.scores).max(-1).tolist())
    of_rows = list(own) if colours is None else [colours] * len(one.rows)
    lines = list(_lines(one.words, line))
    return fragment(
        *(
            scroll_box(_table(one, columns, row_kind, of_rows, columns is lines[-1]), f"{label}, part {part}")
            for part, columns in enumerate(lines, 1)
        )
    )


def _lines(words: Sequence[str], line: int) -> Iterator[range]:
    """The columns of each table: as few tables as fit the line, of about one width."""
    sizes = [min(max(len(word) + 2, NARROWEST), LONGEST) for word in words]
    most = sum(sizes) / math.ceil(sum(sizes) / line) + NARROWEST
    first, width = 0, 0
    for column, size in enumerate(sizes):
        if width + size > most and column > first:
            yield range(first, column)
            first, width = column, 0
        width += size
    yield range(first, len(words))


def _table(
    one: WordMap, columns: range, row_kind: str, of_rows: Sequence[ColourRange], with_sum: bool
) -> Markup:
    titles = (element("th", name(_short(one.words[column])), scope="col") for column in columns)
    total = element("th", "sum", scope="col", class_="pl-sum") if with_sum else None
    head = element("tr", element("th", row_kind, scope="col"), *titles, total)
    rows = (_row(one, row, columns, of_rows[row], with_sum) for row in range(len(one.rows)))
    return table(head, rows, "pl-matrix pl-layers")


def _row(one: WordMap, row: int, columns: range, colours: ColourRange, with_sum: bool) -> Markup:
    shown = slice(columns.start, columns.stop)
    pairs = zip(one.scores[row, shown].tolist(), one.above_rounding[row, shown].tolist(), strict=True)
    cells = (
        element("td", number(score), class_=shade(coloured - colours.low, colours.width) or None)
        for score, coloured in pairs
    )
    total = element("td", number(float(one.sums[row])), class_="pl-sum") if with_sum else None
    return element("tr", element("th", name(_short(one.rows[row])), scope="row"), *cells, total)


def _short(word: str) -> str:
    return word if len(word) <= LONGEST else f"{word[: LONGEST - 1]}…"
