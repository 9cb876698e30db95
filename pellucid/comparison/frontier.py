"""Quality against cost: each method a point, and the frontier of those that are better than every cheaper one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pellucid.drawing.curve_plot import LEFT, RIGHT, Frame, Ticks, axes, drawn, frame_of
from pellucid.drawing.html import Markup, element, fragment, name
from pellucid.drawing.method_facts import readable
from pellucid.drawing.table_view import DIRECTIONS, is_chance
from pellucid.drawing.wording import readable_number
from pellucid.results.table import COST_SECONDS, Table

MOST_PLOTS = 4
NEAR, ROW = 90, 12  # names are about as long and as high
NEAR_RIGHT = 0.72  # of the width: labels of points beyond it stand to their left
NOTE = (
    "Each point is a method: to the right it takes longer, and the line joins those that are better than every cheaper "
    "one. A method off the line costs more than another one that is as good."
)


@dataclass(frozen=True)
class MethodCost:
    """A method's seconds for one text, and its mean under a metric."""

    method: str
    seconds: float
    quality: float


def costs(table: Table, metric: str) -> list[MethodCost]:
    """The methods whose cost and quality are known, the cheapest first."""
    cells = {cell.method: cell.value.mean for cell in table.cells if cell.metric == metric}
    seconds = {
        line.method: line.value.mean
        for outcome in table.checks
        for line in outcome.lines
        if line.measure == COST_SECONDS
    }
    known = [MethodCost(method, seconds[method], cells[method]) for method in cells if method in seconds]
    return sorted((method for method in known if method.seconds > 0 and method.quality == method.quality), key=_seconds)


def frontier(methods: Sequence[MethodCost], better: str) -> list[MethodCost]:
    """Those that are better than every cheaper one; methods: the cheapest first. Random scores are never among them."""
    best: list[MethodCost] = []
    sign = 1 if better == "higher" else -1
    for method in methods:
        if not is_chance(method.method) and (not best or sign * method.quality > sign * best[-1].quality):
            best.append(method)
    return best


def _seconds(method: MethodCost) -> float:
    return method.seconds


def frontier_view(table: Table) -> Markup | None:
    """A plot for each of the first metrics; None where no method's cost is known beside a metric."""
    better = {cell.metric: cell.better for cell in table.cells}
    plots = [
        _plot(metric, costs(table, metric), better[metric])
        for metric in table.metrics[:MOST_PLOTS]
        if len(costs(table, metric)) > 1
    ]
    return fragment(element("p", NOTE, class_="pl-note"), element("div", *plots, class_="pl-plots")) if plots else None


def _plot(metric: str, methods: Sequence[MethodCost], better: str) -> Markup:
    logs = [math.log10(method.seconds) for method in methods]
    frame = frame_of(
        [math.floor(min(logs) * 2) / 2, *logs, math.ceil(max(logs) * 2) / 2], [method.quality for method in methods]
    )
    best = frontier(methods, better)
    line = frame.points([math.log10(method.seconds) for method in best], [method.quality for method in best])
    names = ", ".join(readable(method.method) for method in best)
    drawing = drawn(
        axes(frame, "time for one text", "mean over the texts", _ticks(frame)),
        [element("polyline", points=line, class_="pl-line")],
        (_point(method, frame, method in best, _is_above(method, methods, frame)) for method in methods),
        spoken=f"{readable(metric)} against seconds a text; on the frontier: {names}",
        css_classes="pl-plot pl-c1",
    )
    caption = element(
        "figcaption",
        element("strong", name(readable(metric))),
        element("small", DIRECTIONS.get(better, better)),
    )
    return element("figure", caption, drawing, class_="pl-figure")


def _point(method: MethodCost, frame: Frame, is_best: bool, is_above: bool) -> Markup:
    """A point with its name above or below."""
    x, y = frame.x(math.log10(method.seconds)), frame.y(method.quality)
    is_left = x > LEFT + NEAR_RIGHT * (RIGHT - LEFT)
    label = element(
        "text",
        readable(method.method),
        x=x + (-6 if is_left else 6),
        y=y + (-6 if is_above else 12),
        text_anchor="end" if is_left else "start",
        class_="pl-direct" if is_best else None,
    )
    title = element(
        "title",
        f"{readable(method.method)}: {readable_number(method.quality)}, "
        f"{readable_number(method.seconds)} seconds a text",
    )
    circle = element("circle", title, cx=x, cy=y, r=3.4 if is_best else 2.4, class_="pl-marker")
    return element("g", circle, label, class_="pl-chance" if is_chance(method.method) else None)


def _is_above(method: MethodCost, methods: Sequence[MethodCost], frame: Frame) -> bool:
    """Whether a method's name stands above its point: no near point is higher."""
    x, y = frame.x(math.log10(method.seconds)), frame.y(method.quality)
    near = [
        frame.y(neighbour.quality) for neighbour in methods if abs(frame.x(math.log10(neighbour.seconds)) - x) < NEAR
    ]
    return not any(y - 2 * ROW < near_y < y for near_y in near)


def _ticks(frame: Frame) -> Ticks:
    low, high = frame.x_range
    halves = [half / 2 for half in range(math.ceil(low * 2), math.floor(high * 2) + 1)]
    return [(power, _seconds_in_words(10**power)) for power in halves[:: max(1, len(halves) // 5)]]


def _seconds_in_words(seconds: float) -> str:
    amount, unit = (seconds, "s") if seconds >= 1 else (1000 * seconds, "ms")
    return f"{amount:.0f} {unit}" if amount >= 10 else f"{amount:.2g} {unit}"
