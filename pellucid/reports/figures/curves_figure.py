"""The curves of a comparison: a panel a metric, a line a method, chance in grey."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NotRequired, TypedDict

from pellucid.base.errors import BadInput
from pellucid.base.kinds import metrics, renderers
from pellucid.reports.figures.canvas import (
    SMALL,
    Palette,
    ThemeName,
    empty_figure,
    footnotes,
    grid,
    legend_above,
    palette,
    panels,
)
from pellucid.reports.figures.table_figure import methods_to_draw
from pellucid.reports.wording.method_facts import entry_of, readable
from pellucid.results.table import CHANCE, Curve, Table

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
COLUMNS = 2  # panels beside each other


class DrawnLine(TypedDict):
    """How matplotlib draws a line; markevery: the first point with a marker, and how many points on the next one is."""

    color: str
    linestyle: str | tuple[int, tuple[float, ...]]
    marker: NotRequired[str]
    markevery: NotRequired[tuple[int, int]]


@renderers.add(draws="table", figure="curves", figure_of=("Table",))
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
    colours, n_rows = palette(theme), grid(len(of_metric), COLUMNS)[0]
    figure = empty_figure(width, 2.3 * n_rows + 0.75, colours)
    axes = panels(figure, len(of_metric), COLUMNS, colours)
    styles = line_styles(drawn, colours)
    for panel, (metric, curves) in zip(axes, of_metric.items(), strict=True):
        _lines(panel, metric, curves, styles)
    legend_above(figure, axes[0], colours)
    left_out = (
        f" {n_left_out} methods with smaller differences from chance are left out." if n_left_out else ""
    )
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
    """Colour, dash and marker of each method, so that lines can be told apart without colour; chance is grey and dashed."""
    styles: dict[str, DrawnLine] = {}
    for number, method in enumerate(methods):
        styles[method] = {
            "color": colours.lines[number % len(colours.lines)],
            "linestyle": DASHES[number % len(DASHES)],
            "marker": MARKERS[number % len(MARKERS)],
            "markevery": (number % 3, 4),
        }
    if CHANCE in styles:
        styles[CHANCE] = {"color": colours.muted, "linestyle": (0, (3, 3))}
    return styles


def _lines(panel: "Axes", metric: str, curves: Sequence[Curve], styles: Mapping[str, DrawnLine]) -> None:
    for curve in curves:
        style = styles[curve.method]
        panel.fill_between(curve.grid, curve.low, curve.high, color=style["color"], alpha=0.12, linewidth=0)
        panel.plot(
            curve.grid, curve.mean, label=readable(curve.method), linewidth=1.3, markersize=3.5, **style
        )
    entry = entry_of(metrics, metric)
    facts = entry.facts if entry is not None else metrics.optional
    panel.set_title(readable(metric), fontsize=SMALL + 1, loc="left")
    panel.set_xlabel(str(facts["curve_axis"]), fontsize=SMALL)
    if max(curves[0].grid) <= 1:
        panel.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
