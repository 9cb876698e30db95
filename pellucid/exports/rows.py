"""Results as rows of plain values, for tables of other programs."""

import re
from collections.abc import Sequence
from unicodedata import category, normalize

from pellucid.core.corpus.class_words import ClassWords
from pellucid.core.corpus.side_by_side import SideBySide
from pellucid.core.foundation.errors import BadInput
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.table import Cell, Interval, Table

FORMULA = ("=", "+", "-", "@")  # a spreadsheet would compute a cell that begins so
INVISIBLE = (
    "CZ"  # Unicode's kinds of control signs and blanks, which spreadsheets may drop from a cell's start
)
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?(e[+-]?\d+)?")
Exportable = Explanation | Sequence[Explanation] | SideBySide | Table | ClassWords


def uncomputed(text: str) -> str:
    """A text that no spreadsheet computes: one that begins as a formula does, and is no number, gets an apostrophe in front.

    Wide and small forms of the signs count, as do blanks and signs that are not seen before them; tabs and ends of lines alone.
    """
    begins = next((sign for sign in text if category(sign)[0] not in INVISIBLE), "")
    is_formula = normalize("NFKC", begins).startswith(FORMULA) or text.startswith(("\t", "\r", "\n"))
    return f"'{text}" if is_formula and not NUMBER.fullmatch(text) else text


def explanations_of(results: Explanation | Sequence[Explanation] | SideBySide) -> list[Explanation]:
    """One explanation, several, or those of several methods, as one list; raises `BadInput` for anything else."""
    if isinstance(results, Explanation):
        return [results]
    explanations = results.explanations if isinstance(results, SideBySide) else results
    if not isinstance(explanations, Sequence) or not all(
        isinstance(one, Explanation) for one in explanations
    ):
        raise BadInput(
            f"{type(results).__name__} has no rows; give explanations, several methods side by side, a comparison or "
            "the words of classes."
        )
    return list(explanations)


def cell_rows(table: Table) -> list[dict[str, object]]:
    """One row a cell: a method under a metric, with its interval, and its distance from chance where there is one.

    The agreement of people among themselves comes last.
    """
    return [_cell_row(cell) for cell in (*table.cells, *table.ceiling)]


def _cell_row(cell: Cell) -> dict[str, object]:
    return {
        "method": cell.method,
        "metric": cell.metric,
        "better": cell.better,
        **_bounds("", cell.value),
        "n": cell.n,
        **_bounds("over_chance_", cell.over_chance),
        "verdict": cell.verdict,
        "spread": cell.spread,
    }


def _bounds(prefix: str, interval: Interval | None) -> dict[str, float | None]:
    ends = ("mean", "low", "high")
    return {prefix + end: None if interval is None else getattr(interval, end) for end in ends}
