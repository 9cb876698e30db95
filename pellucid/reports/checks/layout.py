"""How the lines of a check stand on a page or in a terminal: a grid a measure, or, of counted words, a list a method."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pellucid.core.results.check_outcome import CheckLine, CheckOutcome

MARKS = {
    True: ("✓", "passes", "pl-better"),
    False: ("✗", "fails", "pl-worse"),
    None: ("○", "unclear", "pl-unclear"),
}


@dataclass(frozen=True)
class LineGrid:
    """Lines of one measure, or of several that compare with nothing.

    corner: the measure, or "method" where the columns are measures. columns: what methods are compared with, or measures. rows:
    method -> its line in each column, if it has one.
    """

    corner: str
    columns: tuple[str, ...]
    rows: Mapping[str, Mapping[str, CheckLine]]


@dataclass(frozen=True)
class WordRows:
    """Lines of one measure that name words. rows: method -> its lines, in order."""

    measure: str
    rows: Mapping[str, Sequence[CheckLine]]


def parts_of(outcome: CheckOutcome) -> list[LineGrid | WordRows]:
    """The parts of a check, in order: one for all measures that compare with nothing, and one for each of the others."""
    measures = dict.fromkeys(line.measure for line in outcome.lines)
    alone = [one for one in measures if not any(line.beside for line in outcome.lines if line.measure == one)]
    rows: dict[str, dict[str, CheckLine]] = {}
    for line in outcome.lines:
        if line.measure in alone:
            rows.setdefault(line.method, {})[line.measure] = line
    parts: list[LineGrid | WordRows] = [LineGrid("method", tuple(alone), rows)] if alone else []
    others = [one for one in measures if one not in alone]
    return parts + [_part(one, [line for line in outcome.lines if line.measure == one]) for one in others]


def mark_of(line: CheckLine, rule: str) -> tuple[str, str, str] | None:
    """Sign, word and style of a pass or a fail; None where the check has no rule."""
    return MARKS[line.passed] if rule else None


def _part(measure: str, lines: Sequence[CheckLine]) -> LineGrid | WordRows:
    rows: dict[str, list[CheckLine]] = {}
    for line in lines:
        rows.setdefault(line.method, []).append(line)
    columns = tuple(dict.fromkeys(line.beside for line in lines))
    if not (_is_shared(columns, rows) or _are_methods(columns, rows)):
        return WordRows(measure, rows)
    return LineGrid(measure, columns, {name: {one.beside: one for one in rows[name]} for name in rows})


def _is_shared(columns: Sequence[str], rows: Mapping[str, Sequence[CheckLine]]) -> bool:
    """Whether every method is compared with the same things, such as twins."""
    return all([line.beside for line in of_method] == list(columns) for of_method in rows.values())


def _are_methods(columns: Sequence[str], rows: Mapping[str, Sequence[CheckLine]]) -> bool:
    """Whether methods are compared with each other; the last one has no row of its own."""
    return len([column for column in columns if column not in rows]) <= 1
