"""How the lines of a check stand on a page or in a terminal: a grid a measure, or, of counted words, a list a method."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pellucid.core.results.check_outcome import CheckLine, CheckOutcome

PASSED = {True: ("✓", "passes", "pl-better"), False: ("✗", "fails", "pl-worse")}


@dataclass(frozen=True)
class LineGrid:
    """Lines of one measure. columns: what methods are compared with. rows: method -> its line in each column, if it has one."""

    measure: str
    columns: tuple[str, ...]
    rows: Mapping[str, Mapping[str, CheckLine]]


@dataclass(frozen=True)
class WordRows:
    """Lines of one measure that name words. rows: method -> its lines, in order."""

    measure: str
    rows: Mapping[str, Sequence[CheckLine]]


def parts_of(outcome: CheckOutcome) -> list[LineGrid | WordRows]:
    """A part for each measure of a check, in order."""
    measures = dict.fromkeys(line.measure for line in outcome.lines)
    return [_part(one, [line for line in outcome.lines if line.measure == one]) for one in measures]


def _part(measure: str, lines: Sequence[CheckLine]) -> LineGrid | WordRows:
    rows: dict[str, list[CheckLine]] = {}
    for line in lines:
        rows.setdefault(line.method, []).append(line)
    columns = tuple(dict.fromkeys(line.beside for line in lines))
    if len(columns) > len(rows) and not _is_shared(columns, rows):
        return WordRows(measure, rows)
    return LineGrid(measure, columns, {name: {one.beside: one for one in rows[name]} for name in rows})


def _is_shared(columns: Sequence[str], rows: Mapping[str, Sequence[CheckLine]]) -> bool:
    """Whether every method is compared with the same things, such as twins."""
    return all([line.beside for line in of_method] == list(columns) for of_method in rows.values())
