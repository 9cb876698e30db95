"""A comparison in a terminal: methods are rows, and as many metrics stand side by side as there is room for."""

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from pellucid.base.kinds import renderers
from pellucid.reports.markup.html import plain
from pellucid.reports.page.table_view import DIRECTIONS, VERDICTS, is_chance
from pellucid.reports.terminal.checks import check_lines
from pellucid.reports.terminal.rich_text import caution_lines, line, printed
from pellucid.reports.terminal.trust_card import card_lines
from pellucid.reports.wording.method_facts import readable
from pellucid.reports.wording.numbers import bounds, three
from pellucid.results.table import CEILING, Cell, Table

CELL = 24  # the width of a cell in characters
KEY = "▲ better and ▼ worse than random scores on the same texts, ○ unclear; in brackets the 95 % interval"


@renderers.add(draws="table")
def terminal_table(table: Table, *, colour: bool | None = None, width: int | None = None) -> str:
    """A comparison as text: as many metrics side by side as the width allows, the others below.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    width = width or Console().width
    methods = sorted(table.methods, key=is_chance)
    of_people = [CEILING] if table.ceiling else []
    first_column = max((len(plain(readable(method))) for method in (*methods, *of_people)), default=0) + 2
    side_by_side = max(1, (width - first_column) // (CELL + 2))
    metrics = table.metrics
    blocks = [metrics[start : start + side_by_side] for start in range(0, len(metrics), side_by_side)]
    grids = [_grid(table, methods, block) for block in blocks]
    key = [line(KEY)] if metrics else []
    card = [line(""), *card_lines(table.card)] if table.card is not None else []
    lines = [*grids, *key, *caution_lines(table.caveats), *check_lines(table.checks), *card]
    return printed(lines, colour, width)


def _grid(table: Table, methods: list[str], metrics: tuple[str, ...]) -> Grid:
    cells = {(cell.method, cell.metric): cell for cell in (*table.cells, *table.ceiling)}
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    grid.add_column(Text("method"), no_wrap=True)
    for metric in metrics:
        better = next(cell.better for cell in table.cells if cell.metric == metric)
        grid.add_column(Text(f"{plain(readable(metric))}\n{DIRECTIONS.get(better, better)}"), min_width=CELL)
    of_people = [CEILING] if {cell.metric for cell in table.ceiling} & set(metrics) else []
    for method in [*methods, *of_people]:
        values = (_cell(cells.get((method, metric))) for metric in metrics)
        grid.add_row(line(readable(method)), *values)
    grid.add_row()
    return grid


def _cell(cell: Cell | None) -> Text:
    if cell is None:
        return Text("–")
    mark = "" if is_chance(cell.method) else f" {VERDICTS[cell.verdict][0]}"
    return Text(f"{three(cell.value.mean)} [{bounds(cell.value)}]{mark}")
