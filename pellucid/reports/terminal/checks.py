"""The checks of a comparison in a terminal: a grid a measure, methods as rows."""

from collections.abc import Sequence

from rich.table import Table as Grid
from rich.text import Text

from pellucid.core.results.check_outcome import CheckLine, CheckOutcome
from pellucid.reports.checks.layout import PASSED, LineGrid, WordRows, parts_of
from pellucid.reports.terminal.rich_text import Line, caution_lines, line
from pellucid.reports.wording.method_facts import readable
from pellucid.reports.wording.numbers import bounds, number, three

MOST_COLUMNS = 2  # more have no room for intervals


def check_lines(outcomes: Sequence[CheckOutcome]) -> list[Line | Grid]:
    """All checks, one below the other."""
    return [part for outcome in outcomes for part in _of_check(outcome)]


def _of_check(outcome: CheckOutcome) -> list[Line | Grid]:
    title = Text.assemble((readable(outcome.check), "bold"), f"  {outcome.meaning}")
    rule = [line(f"A method {outcome.rule}.")] if outcome.rule else []
    grids = [_grid(part) for part in parts_of(outcome)]
    return [Text(""), title, *rule, *grids, *caution_lines(outcome.notes)]


def _grid(part: LineGrid | WordRows) -> Grid:
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    grid.add_column(Text("method"), no_wrap=True)
    if isinstance(part, WordRows):
        grid.add_column(Text(part.measure))
        for method, lines in part.rows.items():
            words = ", ".join(f"{one.beside} {number(one.value.mean)}" for one in lines)
            grid.add_row(line(readable(method)), line(words))
        return grid
    for column in part.columns:
        grid.add_column(line(part.measure if not column else f"{part.measure}\n{readable(column)}"))
    for method, of_method in part.rows.items():
        cells = (_cell(of_method.get(column), len(part.columns) <= MOST_COLUMNS) for column in part.columns)
        grid.add_row(line(readable(method)), *cells)
    return grid


def _cell(one: CheckLine | None, is_roomy: bool) -> Text:
    if one is None:
        return Text("")
    value = f"{three(one.value.mean)} [{bounds(one.value)}]" if is_roomy else three(one.value.mean)
    return Text(f"{value} {' '.join(PASSED[one.passed][:2])}" if one.passed is not None else value)
