"""A comparison as a figure: a row a method, a panel a metric, each number with its interval and with chance behind
it.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NotRequired, TypedDict

import numpy as np

from pellucid.base.checks import known
from pellucid.base.errors import BadInput
from pellucid.base.kinds import metrics, renderers
from pellucid.drawing.canvas import (
    SMALL,
    Palette,
    ThemeName,
    empty_figure,
    footnotes,
    grid,
    hexadecimal,
    legend_above,
    palette,
    panels,
)
from pellucid.drawing.method_facts import entry_of, readable
from pellucid.drawing.table_view import DIRECTIONS
from pellucid.drawing.wording import three
from pellucid.results.table import CHANCE, Cell, Curve, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW, MANY = 0.21, 40
COLUMNS = 4  # panels beside each other
NOTE = (
    "Points: means; lines: 95 % intervals; grey: chance. Filled: better (orange) or worse (blue) than chance, text by "
    "text, at 5 % for all points together; hollow: undecided."
)


@renderers.add(
    draws="table",
    figure="table",
    figure_of=("pellucid.results.table.Table",),
    first_of=("pellucid.results.table.Table",),
)
def table_figure(
    table: Table,
    *,
    theme: ThemeName = "light",
    width: float = 6.3,
    methods: Sequence[str] | None = None,
) -> "Figure":
    """Every number of a comparison as a point with its interval.

    methods: those to draw, in the table's order; None: all. Raises `UnknownName` for one that the table does not have.
    """
    drawn = methods_to_draw(table, methods, most=MANY)[0]
    rows = [method for method in drawn if method != CHANCE] or drawn
    colours, (n_lines, n_columns) = palette(theme), grid(len(table.metrics), COLUMNS)
    figure = empty_figure(width, (ROW * len(rows) + 0.75) * n_lines + 0.35, colours)
    axes = panels(figure, len(table.metrics), COLUMNS, colours)
    for index, (panel, metric) in enumerate(zip(axes, table.metrics, strict=True)):
        cells = {cell.method: cell for cell in table.cells if cell.metric == metric}
        _metric(panel, rows, cells, colours)
        panel.set_yticks(range(len(rows)), map(readable, rows) if index % n_columns == 0 else [])
    footnotes(figure, [NOTE], colours)
    return figure


def _metric(panel: "Axes", rows: Sequence[str], cells: dict[str, Cell], colours: Palette) -> None:
    any_cell = next(iter(cells.values()))
    if chance := cells.get(CHANCE):
        panel.axvspan(chance.value.low, chance.value.high, color=colours.muted, alpha=0.22, linewidth=0)
        panel.axvline(chance.value.mean, color=colours.muted, linewidth=0.8)
    for place, method in enumerate(rows):
        if method in cells:
            _point(panel, place, cells[method], colours)
    panel.set_title(readable(any_cell.metric), fontsize=SMALL, loc="left")
    panel.set_xlabel(DIRECTIONS.get(any_cell.better, ""), fontsize=SMALL - 1)
    panel.set_ylim(len(rows) - 0.4, -0.6)
    panel.tick_params(axis="y", length=0)
    panel.margins(x=0.12)


def _point(panel: "Axes", place: int, cell: Cell, colours: Palette) -> None:
    theme = colours.theme
    verdicts = {"better than chance": hexadecimal(theme.plus), "worse than chance": hexadecimal(theme.minus)}
    colour = verdicts.get(cell.verdict, colours.ink)
    value = cell.value
    panel.plot([value.low, value.high], [place, place], color=colour, linewidth=1.1)
    inside = colour if cell.verdict in verdicts else colours.paper
    panel.plot([value.mean], [place], "o", markersize=4.5, color=colour, markerfacecolor=inside)
    panel.annotate(
        three(value.mean),
        (value.mean, place),
        (0, 4),
        textcoords="offset points",
        ha="center",
        size=SMALL - 3,
        color=colours.muted,
    )


# Which methods of a comparison are drawn: those that were named, else the ones farthest above chance.

MOST = 7  # lines that a reader can tell apart in one panel


def methods_to_draw(table: Table, methods: Sequence[str] | None, most: int = MOST) -> tuple[list[str], int]:
    """The methods to draw, chance last, and how many are left out.

    methods: those to draw; None: all, or where there are more than `most` those that are best on average over the
    metrics, each counted by its difference from chance divided by the half width of that difference's interval.
    Raises `UnknownName` for a method that the table does not have.
    """
    without_chance = [method for method in table.methods if method != CHANCE]
    for method in methods or ():
        known("method of this table", method, table.methods)
    if methods is not None:
        best = [method for method in methods if method != CHANCE]
    else:
        best = sorted(without_chance, key=lambda method: -_distance(table, method))[:most]
    chance = [CHANCE] if CHANCE in table.methods else []
    return [*(method for method in without_chance if method in best), *chance], len(without_chance) - len(best)


def _distance(table: Table, method: str) -> float:
    distances = [_of_cell(cell) for cell in table.cells if cell.method == method and cell.over_chance]
    return float(np.mean(distances)) if distances else -np.inf


def _of_cell(cell: Cell) -> float:
    over = cell.over_chance
    assert over is not None
    half = max((over.high - over.low) / 2, 1e-9)
    distance = over.mean / half if cell.better == "higher" else -over.mean / half
    return distance if distance == distance else 0.0


# The curves of a comparison: a panel a metric, a line a method, chance in grey.

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DASHES: tuple[str | tuple[int, tuple[float, ...]], ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1, 1.2)),
    (0, (5, 1.5, 1, 1.5)),
)
MARKERS = "os^Dv"
CURVE_COLUMNS = 2  # panels beside each other


class DrawnLine(TypedDict):
    """How matplotlib draws a line; markevery: the first point with a marker, and how many points on the next one is."""

    color: str
    linestyle: str | tuple[int, tuple[float, ...]]
    marker: NotRequired[str]
    markevery: NotRequired[tuple[int, int]]


@renderers.add(draws="table", figure="curves", figure_of=("pellucid.results.table.Table",))
def curves_figure(
    table: Table,
    *,
    theme: ThemeName = "light",
    width: float = 6.3,
    methods: Sequence[str] | None = None,
) -> "Figure":
    """The mean curve of each method with its 95 % interval, one panel a metric.

    methods: those to draw; None: all, or of many the seven farthest above chance. Raises `BadInput` for a table without
    curves, `UnknownName` for a method that it does not have.
    """
    drawn, n_left_out = methods_to_draw(table, methods)
    of_metric = _by_metric(table, drawn)
    colours, n_rows = palette(theme), grid(len(of_metric), CURVE_COLUMNS)[0]
    figure = empty_figure(width, 2.3 * n_rows + 0.75, colours)
    axes = panels(figure, len(of_metric), CURVE_COLUMNS, colours)
    styles = line_styles(drawn, colours)
    for panel, (metric, curves) in zip(axes, of_metric.items(), strict=True):
        _lines(panel, metric, curves, styles)
    legend_above(figure, axes[0], colours)
    left_out = f" {n_left_out} methods with smaller differences from chance are left out." if n_left_out else ""
    footnotes(figure, [f"Bands: 95 % intervals.{left_out}"], colours)
    return figure


def _by_metric(table: Table, methods: Sequence[str]) -> dict[str, list[Curve]]:
    """Metric -> the curves of these methods; raises `BadInput` where there is none."""
    of_metric: dict[str, list[Curve]] = {}
    for curve in table.curves:
        if curve.method in methods:
            of_metric.setdefault(curve.metric, []).append(curve)
    if not of_metric:
        raise BadInput(
            "This comparison has no curves; compare with the metrics hiding or revealing, or draw kind='table'."
        )
    return of_metric


def line_styles(methods: Sequence[str], colours: Palette) -> dict[str, DrawnLine]:
    """Colour, dash and marker of each method, so that lines can be told apart without colour; chance is grey and
    dashed.
    """
    styles: dict[str, DrawnLine] = {}
    for index, method in enumerate(methods):
        styles[method] = {
            "color": colours.lines[index % len(colours.lines)],
            "linestyle": DASHES[index % len(DASHES)],
            "marker": MARKERS[index % len(MARKERS)],
            "markevery": (index % 3, 4),
        }
    if CHANCE in styles:
        styles[CHANCE] = {"color": colours.muted, "linestyle": (0, (3, 3))}
    return styles


def _lines(panel: "Axes", metric: str, curves: Sequence[Curve], styles: Mapping[str, DrawnLine]) -> None:
    for curve in curves:
        style = styles[curve.method]
        panel.fill_between(curve.grid, curve.low, curve.high, color=style["color"], alpha=0.12, linewidth=0)
        panel.plot(curve.grid, curve.mean, label=readable(curve.method), linewidth=1.3, markersize=3.5, **style)
    entry = entry_of(metrics, metric)
    facts = entry.facts if entry is not None else metrics.optional
    panel.set_title(readable(metric), fontsize=SMALL + 1, loc="left")
    panel.set_xlabel(str(facts["curve_axis"]), fontsize=SMALL)
    if max(curves[0].grid) <= 1:
        panel.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
