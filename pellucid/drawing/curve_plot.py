"""Line plots of a comparison's curves: inline SVG without script, one colour, dash and marker a method."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, starmap

import numpy as np

from pellucid.base.kinds import metrics
from pellucid.drawing.html import Markup, element, fragment, name
from pellucid.drawing.method_facts import entry_of, readable
from pellucid.drawing.table_view import DIRECTIONS, is_chance
from pellucid.results.table import Cell, Curve, Table

# Where the numbers of a plot are in its drawing, and the round numbers on its axes.

WIDTH, HEIGHT = 360, 248
LEFT, RIGHT, TOP, BOTTOM = 34, 344, 26, 206


@dataclass(frozen=True)
class Frame:
    """The ranges of both axes; x and y turn values into positions in a 360 x 248 drawing."""

    x_range: tuple[float, float]
    y_range: tuple[float, float]

    def x(self, value: float) -> float:
        """The position of a value on the horizontal axis."""
        return round(LEFT + (RIGHT - LEFT) * _share(value, self.x_range), 2)

    def y(self, value: float) -> float:
        """The position of a value on the vertical axis, which grows upwards."""
        return round(BOTTOM - (BOTTOM - TOP) * _share(value, self.y_range), 2)

    def points(self, xs: Iterable[float], ys: Iterable[float]) -> str:
        """Pairs as an SVG list of points."""
        return " ".join(f"{self.x(x):g},{self.y(y):g}" for x, y in zip(xs, ys, strict=True))


def frame_of(xs: Sequence[float], ys: Sequence[float]) -> Frame:
    """A frame around all values; its vertical ends are round numbers."""
    known = [y for y in ys if math.isfinite(y)] or [0.0, 1.0]
    ticks = round_ticks(min(known), max(known))
    return Frame((min(xs), max(xs)), (ticks[0], ticks[-1]))


def round_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """At most about `most` round numbers that enclose the range."""
    span = high - low if high > low else max(abs(high), 1.0)
    raw = span / (most - 1)
    power = 10 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(index * step, 10) for index in range(first, max(last, first + 1) + 1)]


def _share(value: float, ends: tuple[float, float]) -> float:
    low, high = ends
    return (value - low) / (high - low) if high > low else 0.5


COLOURS, DASHES = 8, 4
MARKERS = (
    "M-3,0a3,3 0 1,0 6,0a3,3 0 1,0 -6,0z",
    "M-2.6-2.6h5.2v5.2h-5.2z",
    "M0-3.4l3.2,5.8h-6.4z",
    "M0-3.6l3.4,3.6l-3.4,3.6l-3.4-3.6z",
    "M-3.2-2.4h6.4l-3.2,5.8z",
)
LETTER = 5.3  # width of a letter of a label, about
UPRIGHT = {"gold": "share of right answers", "prediction": "share of answers that stay the same"}


@dataclass(frozen=True)
class LineStyle:
    """How a method's line differs from the others: CSS classes and the shape of its markers.

    offset: the first marker's number on the curve, so that the markers of methods do not fall together.
    """

    css_classes: str
    marker: str | None
    offset: int = 0


def line_styles(methods: Sequence[str]) -> dict[str, LineStyle]:
    """The same style for a method in all plots; chance is dashed grey without markers."""
    styles = {method: LineStyle("pl-chance", None) for method in methods if is_chance(method)}
    for index, method in enumerate(method for method in methods if not is_chance(method)):
        dash = (index + index // COLOURS) % DASHES + 1
        css_classes = f"pl-c{index % COLOURS + 1} pl-d{dash}"
        styles[method] = LineStyle(css_classes, MARKERS[index % len(MARKERS)], index)
    return styles


def curve_plots(table: Table) -> Markup | None:
    """One plot a metric with curves and one legend for all; None when there are no curves."""
    if not table.curves:
        return None
    methods = list(dict.fromkeys(curve.method for curve in table.curves))
    styles = line_styles(methods)
    cells = {cell.metric: cell for cell in table.cells}
    groups: dict[str, list[Curve]] = {}
    for curve in table.curves:
        groups.setdefault(curve.metric, []).append(curve)
    plots = (_plot(curves, styles, cells.get(metric)) for metric, curves in groups.items())
    return fragment(element("div", *plots, class_="pl-plots"), _legend(styles))


def _plot(curves: Sequence[Curve], styles: Mapping[str, LineStyle], cell: Cell | None) -> Markup:
    return (
        curve_plot(curves, styles, cell.better, str(cell.settings.get("reference", "")))
        if cell
        else curve_plot(curves, styles)
    )


def curve_plot(
    curves: Sequence[Curve], styles: Mapping[str, LineStyle], better: str = "", reference: str = ""
) -> Markup:
    """The curves of one metric, chance behind the others, with interval bands, axes and labels at the outermost lines.

    better, reference: as in the metric's cells; they decide the words.
    """
    metric = curves[0].metric
    values = [value for curve in curves for value in (*curve.low, *curve.high, *curve.mean)]
    frame = frame_of([x for curve in curves for x in curve.grid], values)
    along, reading = curve_facts(metric)
    ordered = sorted(curves, key=lambda curve: not is_chance(curve.method))
    up = axes(frame, along, UPRIGHT.get(reference, "mean over the texts"))
    lines = curve_lines(ordered, frame, styles)
    drawing = drawn(up, lines, _direct_labels(curves, frame, styles), spoken=_spoken(metric, curves))
    return element("figure", curve_caption(metric, better, reading), drawing, class_="pl-figure")


def check_plot(curves: Sequence[Curve], along: str) -> Markup:
    """The curves of one check, with their legend. along: what they run along."""
    styles = line_styles([curve.method for curve in curves])
    values = [value for curve in curves for value in (*curve.low, *curve.high, *curve.mean)]
    frame = frame_of([x for curve in curves for x in curve.grid], values)
    both, lines = axes(frame, along, "mean over the texts"), curve_lines(curves, frame, styles)
    drawing = drawn(both, lines, spoken=_spoken(curves[0].metric, curves))
    figure = element("figure", drawing, class_="pl-figure")
    return fragment(element("div", figure, class_="pl-plots"), _legend(styles))


def curve_facts(metric: str) -> tuple[str, str]:
    """What a metric's curve runs along, and how to read it; empty for the metric of an absent plug-in."""
    entry = entry_of(metrics, metric)
    facts = entry.facts if entry is not None else metrics.optional
    return facts["curve_axis"], facts["curve_reading"]


def curve_caption(metric: str, better: str, reading: str) -> Markup:
    """The metric, the better direction, and how to read its curve."""
    advice = ": ".join(part for part in (DIRECTIONS.get(better, ""), reading) if part)
    return element("figcaption", element("strong", name(readable(metric))), element("small", advice))


def drawn(*parts: Iterable[Markup], spoken: str, css_classes: str = "pl-plot") -> Markup:
    """The parts of a plot, the first ones behind the others, as one drawing; spoken: what a screen reader says."""
    box = f"0 0 {WIDTH} {HEIGHT}"
    return element("svg", *chain(*parts), viewBox=box, role="img", aria_label=spoken, class_=css_classes)


Ticks = Sequence[tuple[float, str]]  # where they stand on the level axis, and what is written there


def axes(frame: Frame, along: str, up: str, ticks: Ticks = (), unit: float = 1) -> list[Markup]:
    """Both axes with round numbers and what they show. ticks: of the level axis, where not the round numbers. unit:
    what the upright axis counts in.
    """
    return [*_upright(frame, up, unit), *_level(frame, along, ticks)]


def _upright(frame: Frame, up: str, unit: float) -> list[Markup]:
    parts = [element("text", up, x=2, y=TOP - 14)]
    ticks = round_ticks(*frame.y_range)
    decimals = max(len(f"{tick / unit:g}".partition(".")[2]) for tick in ticks)
    for tick in ticks:
        y, label = frame.y(tick), f"{tick / unit:.{decimals}f}".replace("-", "\u2212")
        parts.append(element("line", x1=LEFT, x2=RIGHT, y1=y, y2=y, class_="pl-grid"))
        parts.append(element("text", label, x=LEFT - 6, y=y + 3.5, text_anchor="end"))
    return parts


def _level(frame: Frame, along: str, ticks: Ticks) -> list[Markup]:
    parts = []
    low, high = frame.x_range
    numbers = [(tick, f"{tick:.0%}" if high <= 1 else f"{tick:g}") for tick in round_ticks(low, high)]
    for tick, label in ticks or [pair for pair in numbers if low <= pair[0] <= high]:
        parts.append(element("text", label, x=frame.x(tick), y=BOTTOM + 15, text_anchor="middle"))
        parts.append(element("line", x1=frame.x(tick), x2=frame.x(tick), y1=BOTTOM, y2=BOTTOM + 4, class_="pl-axis"))
    parts.append(element("line", x1=LEFT, x2=RIGHT, y1=BOTTOM, y2=BOTTOM, class_="pl-axis"))
    middle = (LEFT + RIGHT) / 2
    parts.append(element("text", along, x=middle, y=BOTTOM + 33, text_anchor="middle", class_="pl-along"))
    return parts


def curve_lines(curves: Sequence[Curve], frame: Frame, styles: Mapping[str, LineStyle]) -> list[Markup]:
    """The intervals of all curves, and before them their lines."""
    pairs = [(curve, frame, styles[curve.method]) for curve in curves]
    return [*starmap(_curve_band, pairs), *starmap(_curve_line, pairs)]


def _curve_band(curve: Curve, frame: Frame, style: LineStyle) -> Markup:
    """A curve's 95 % interval."""
    there = frame.points(curve.grid, curve.high)
    back = frame.points(curve.grid[::-1], curve.low[::-1])
    return element("polygon", points=f"{there} {back}", class_=f"pl-band {style.css_classes}")


def _curve_line(curve: Curve, frame: Frame, style: LineStyle) -> Markup:
    """A curve with its markers."""
    every = max(1, len(curve.grid) // 5)
    markers = dict.fromkeys(range(style.offset % every, len(curve.grid), every))
    return marked_line(frame, (curve.grid, curve.mean), style, readable(curve.method), markers)


def marked_line(
    frame: Frame,
    points: tuple[Sequence[float], Sequence[float]],
    style: LineStyle,
    title: str,
    markers: Mapping[int, str | None],
) -> Markup:
    """A line through points, all x and all y; markers: the numbers of those with a marker, and what each says."""
    line, xs, ys = element("polyline", points=frame.points(*points), class_="pl-line"), *points
    marks = (_marker(style, frame.x(xs[n]), frame.y(ys[n]), says) for n, says in markers.items() if style.marker)
    return element("g", element("title", title), line, *marks, class_=style.css_classes)


def _marker(style: LineStyle, x: float, y: float, says: str | None = None) -> Markup:
    title = None if says is None else element("title", says)
    return element("path", title, d=style.marker, transform=f"translate({x:g} {y:g})", class_="pl-marker")


def _direct_labels(curves: Sequence[Curve], frame: Frame, styles: Mapping[str, LineStyle]) -> list[Markup]:
    """The names of the highest and the lowest line, where each stands clearest of the others."""
    if len(curves) < 2 or len({curve.grid for curve in curves}) > 1:
        return []
    means = np.array([curve.mean for curve in curves])
    labels = (_direct_label(curves, sign * means, frame, styles, sign) for sign in (1, -1))
    return [label for label in labels if label]


def _direct_label(
    curves: Sequence[Curve], means: np.ndarray, frame: Frame, styles: Mapping[str, LineStyle], sign: int
) -> Markup | None:
    """means [curve point]: with the opposite sign for the lowest line (sign -1)."""
    order = np.sort(means, axis=0)
    gaps = order[-1] - order[-2]
    falling = curves[0].mean[-1] < curves[0].mean[0]
    to_right = falling == (sign > 0)  # the side on which no line can run through the label
    for point in np.argsort(-gaps).tolist():
        curve = curves[int(means[:, point].argmax())]
        x, y = frame.x(curve.grid[point]), frame.y(curve.mean[point]) - sign * 7 + (0 if sign > 0 else 7)
        title = readable(curve.method)
        end = x + (LETTER * len(title) + 6) * (1 if to_right else -1)
        if LEFT < end < RIGHT and TOP + 8 < y < BOTTOM - 4:
            anchor, shift = ("start", 5) if to_right else ("end", -5)
            css_classes = f"pl-direct {styles[curve.method].css_classes}"
            return element("text", title, x=x + shift, y=y, text_anchor=anchor, class_=css_classes)
    return None


def _spoken(metric: str, curves: Sequence[Curve]) -> str:
    ends = ", ".join(f"{readable(curve.method)} mean height {np.mean(curve.mean):.2f}" for curve in curves)
    return f"Line plot of {readable(metric)}: {ends}"


def _legend(styles: Mapping[str, LineStyle]) -> Markup:
    items = (element("li", sample_of(style), name(readable(method))) for method, style in styles.items())
    ordered = sorted(zip(styles, items, strict=True), key=lambda pair: is_chance(pair[0]))
    note = element("li", "pale bands: 95 % intervals", class_="pl-muted")
    return element("ul", *(item for _, item in ordered), note, class_="pl-lines")


def sample_of(style: LineStyle) -> Markup:
    """A piece of a line as a legend shows it."""
    line = element("line", x1=1, x2=33, y1=6, y2=6, class_="pl-line")
    marker = _marker(style, 17, 6) if style.marker else None
    sample = element("g", line, marker, class_=style.css_classes)
    return element("svg", sample, viewBox="0 0 34 12", width=34, height=12, aria_hidden="true")
