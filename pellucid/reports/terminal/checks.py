"""The checks of a comparison in a terminal: a grid a measure, methods as rows."""

from collections.abc import Sequence

from rich.table import Table as Grid
from rich.text import Text

from pellucid.reports.checks.view import LineGrid, WordRows, mark_of, parts_of
from pellucid.reports.markup.html import plain
from pellucid.reports.terminal.rich_text import Line, caution_lines, line
from pellucid.reports.wording.method_facts import readable
from pellucid.reports.wording.numbers import bounds, number, three
from pellucid.results.check_outcome import CheckLine, CheckOutcome

MOST_COLUMNS = 2  # more have no room for intervals


def check_lines(outcomes: Sequence[CheckOutcome]) -> list[Line | Grid]:
    """All checks, one below the other."""
    return [part for outcome in outcomes for part in _of_check(outcome)]


def _of_check(outcome: CheckOutcome) -> list[Line | Grid]:
    title = Text.assemble((plain(readable(outcome.check)), "bold"), f"  {plain(outcome.meaning)}")
    rule = [line(f"A method {outcome.rule}.")] if outcome.rule else []
    grids = [_grid(part, outcome.rule) for part in parts_of(outcome)]
    return [Text(""), title, *rule, *grids, *caution_lines(outcome.notes)]


def _grid(part: LineGrid | WordRows, rule: str) -> Grid:
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    corner = "method" if isinstance(part, WordRows) else part.corner
    grid.add_column(line(corner), no_wrap=True)
    if isinstance(part, WordRows):
        grid.add_column(line(part.measure))
        for method, lines in part.rows.items():
            words = ", ".join(f"{one.beside} {number(one.value.mean)}" for one in lines)
            grid.add_row(line(readable(method)), line(words))
        return grid
    for column in part.columns:
        grid.add_column(line(readable(column)))
    for method, of_method in part.rows.items():
        cells = (
            _cell(of_method.get(column), len(part.columns) <= MOST_COLUMNS, rule) for column in part.columns
        )
        grid.add_row(line(readable(method)), *cells)
    return grid


def _cell(one: CheckLine | None, is_roomy: bool, rule: str) -> Text:
    if one is None:
        return Text("")
    has_bounds = is_roomy and one.value.low == one.value.low
    value = f"{three(one.value.mean)} [{bounds(one.value)}]" if has_bounds else three(one.value.mean)
    mark = mark_of(one, rule)
    return Text(f"{value} {mark[0]} {mark[1]}" if mark else value)
