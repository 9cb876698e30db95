"""A comparison as a section of a page: its table, its checks, and its curves, of many methods a small panel each."""

from collections.abc import Mapping, Sequence

import numpy as np

from pellucid.base.kinds import renderers
from pellucid.drawing.curve_plot import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    Frame,
    LineStyle,
    curve_caption,
    curve_facts,
    curve_lines,
    curve_plots,
    drawn,
    frame_of,
)
from pellucid.drawing.html import Markup, element, fragment, name
from pellucid.drawing.method_facts import ordered, readable
from pellucid.drawing.page import Section
from pellucid.drawing.table_view import is_chance, table_view
from pellucid.results.table import Cell, Curve, Table

TITLE = "Which explanation can be believed?"  # of a page that is about a comparison
MOST_LINES = 6  # more lines in one plot cannot be told apart
METHOD, CHANCE = LineStyle("pl-c1", None), LineStyle("pl-chance", None)
COMPARISON = (
    "Every method took the same tests on the same texts, and so did random scores. A method that does no better than "
    "random scores should not be believed for this model."
)
Groups = Mapping[str, Sequence[Curve]]  # metric -> its curves


def curves_view(table: Table) -> Markup | None:
    """The curves of a comparison: few methods in one plot, many in a panel each; None without curves."""
    methods = {curve.method for curve in table.curves if not is_chance(curve.method)}
    return curve_panels(table) if len(methods) > MOST_LINES else curve_plots(table)


def curve_panels(table: Table) -> Markup:
    """A grid of panels a metric."""
    cells = {cell.metric: cell for cell in table.cells}
    groups: dict[str, list[Curve]] = {}
    for curve in table.curves:
        groups.setdefault(curve.metric, []).append(curve)
    return fragment(*(_panels(metric, curves, cells.get(metric)) for metric, curves in groups.items()))


def _panels(metric: str, curves: Sequence[Curve], cell: Cell | None) -> Markup:
    along, reading = curve_facts(metric)
    values = [value for curve in curves for value in (*curve.low, *curve.high, *curve.mean)]
    frame = frame_of([x for curve in curves for x in curve.grid], values)
    of_method = {curve.method: curve for curve in curves}
    chance = [curve for curve in curves if is_chance(curve.method)]
    panels = (_panel(of_method[m], chance, frame) for m in ordered(list(of_method)) if not is_chance(m))
    beside = "; dashed grey: random scores" if chance else ""
    note = f"Each panel is one method, all on one scale. Along: {along}{beside}; pale: 95 % intervals."
    return element(
        "figure",
        curve_caption(metric, cell.better if cell else "", reading),
        element("p", note, class_="pl-note"),
        element("div", *panels, class_="pl-panels"),
        class_="pl-plots pl-many",
    )


def _panel(curve: Curve, chance: Sequence[Curve], frame: Frame) -> Markup:
    title = readable(curve.method)
    height = f"mean {np.mean(curve.mean):.2f}"
    styles = dict.fromkeys((random.method for random in chance), CHANCE) | {curve.method: METHOD}
    lines = [*curve_lines(chance, frame, styles), *curve_lines([curve], frame, styles)]
    drawing = drawn(_scale(frame), lines, spoken=f"{title}: {height}", css_classes="pl-plot pl-panel")
    caption = element("p", element("strong", name(title)), " ", element("small", height))
    return element("div", caption, drawing)


def _scale(frame: Frame) -> list[Markup]:
    """The frame's ends as numbers, and the lines that they stand at."""
    low, high = frame.y_range
    left, right = frame.x_range
    lines = (
        element("line", x1=LEFT, x2=RIGHT, y1=BOTTOM, y2=BOTTOM, class_="pl-axis"),
        element("line", x1=LEFT, x2=RIGHT, y1=TOP, y2=TOP, class_="pl-grid"),
    )
    ends = [(low, LEFT - 6, BOTTOM, "end"), (high, LEFT - 6, TOP + 8, "end")]
    upright = (element("text", f"{value:g}", x=x, y=y, text_anchor=anchor) for value, x, y, anchor in ends)
    level = (
        element("text", f"{value:.0%}" if right <= 1 else f"{value:g}", x=x, y=BOTTOM + 28, text_anchor=anchor)
        for value, x, anchor in ((left, LEFT, "start"), (right, RIGHT, "end"))
    )
    return [*lines, *upright, *level]


def comparison_section(table: Table, heading: str = "Which method can be believed", intro: str = COMPARISON) -> Section:
    """The comparison table, its curves and its checks, which another room draws."""
    checks = renderers.get("page_checks").make(table)
    return Section(heading, intro, fragment(table_view(table), curves_view(table), checks))
