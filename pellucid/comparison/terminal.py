"""A comparison in a terminal: methods are rows, and as many metrics stand side by side as there is room for."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from pellucid.base.kinds import renderers
from pellucid.comparison.checks_view import LineGrid, WordRows, mark_of, parts_of
from pellucid.drawing.html import plain
from pellucid.drawing.method_facts import readable
from pellucid.drawing.table_view import DIRECTIONS, HEADINGS, VERDICTS, heading_of, is_chance, title
from pellucid.drawing.terminal import Line, caution_lines, indented, line, printed
from pellucid.drawing.wording import bounds, readable_number, three
from pellucid.results.interval import CheckLine, CheckOutcome, TrustCard
from pellucid.results.table import CEILING, Cell, Table

CELL = 24  # the width of a cell in characters
KEY = (
    "▲ better and ▼ worse than random scores on the same texts (5 % for all marks together), ○ unclear; in brackets "
    "the 95 % interval"
)


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


# A trust card in a terminal: each kind of advice with its sentences, short enough to be read in a minute.


@renderers.add(draws="trust card")
def terminal_trust_card(card: TrustCard, *, colour: bool | None = None, width: int | None = None) -> str:
    """The card as text.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    return printed(card_lines(card), colour, width or Console().width)


def card_lines(card: TrustCard) -> list[Line]:
    """The lines of a card; the tests behind its first point stand under it."""
    lines: list[Line] = [line(title(card.model, card.n_texts), style="bold")]
    for kind in HEADINGS:
        points = card.points(kind)
        if points:
            sign, heading = heading_of(kind, points)
            lines += [line(f"{sign} {heading}", style="bold"), *indented(point.sentence for point in points)]
        if kind == "use":
            lines += indented(f"  {test}" for point in points for test in point.evidence)
    return [*lines, line(card.tests, style="dim")]


# The checks of a comparison in a terminal: a grid a measure, methods as rows.

MOST_COLUMNS = 2  # more have no room for intervals


def check_lines(outcomes: Sequence[CheckOutcome]) -> list[Line | Grid]:
    """All checks, one below the other."""
    return [part for outcome in outcomes for part in _of_check(outcome)]


def _of_check(outcome: CheckOutcome) -> list[Line | Grid]:
    title = Text.assemble((plain(readable(outcome.check)), "bold"), f"  {plain(outcome.meaning)}")
    rule = [line(f"A method {outcome.rule}.")] if outcome.rule else []
    grids = [_check_grid(part, outcome.rule) for part in parts_of(outcome)]
    return [Text(""), title, *rule, *grids, *caution_lines(outcome.notes)]


def _check_grid(part: LineGrid | WordRows, rule: str) -> Grid:
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    corner = "method" if isinstance(part, WordRows) else part.corner
    grid.add_column(line(corner), no_wrap=True)
    if isinstance(part, WordRows):
        grid.add_column(line(part.measure))
        for method, lines in part.rows.items():
            words = ", ".join(f"{check_line.beside} {readable_number(check_line.value.mean)}" for check_line in lines)
            grid.add_row(line(readable(method)), line(words))
        return grid
    for column in part.columns:
        grid.add_column(line(readable(column)))
    for method, of_method in part.rows.items():
        cells = (_check_cell(of_method.get(column), len(part.columns) <= MOST_COLUMNS, rule) for column in part.columns)
        grid.add_row(line(readable(method)), *cells)
    return grid


def _check_cell(check_line: CheckLine | None, is_roomy: bool, rule: str) -> Text:
    if check_line is None:
        return Text("")
    has_bounds = is_roomy and check_line.value.low == check_line.value.low
    value = (
        f"{three(check_line.value.mean)} [{bounds(check_line.value)}]" if has_bounds else three(check_line.value.mean)
    )
    mark = mark_of(check_line, rule)
    return Text(f"{value} {mark[0]} {mark[1]}" if mark else value)
