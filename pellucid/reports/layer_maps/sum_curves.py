"""The sum over the words by layer: a line a model with its interval, as inline SVG without script."""

from collections.abc import Sequence

from pellucid.core.corpus.layer_analysis import LayerAnalysis, RowSum
from pellucid.core.results.table import Curve
from pellucid.reports.markup.html import Markup, element, fragment, name
from pellucid.reports.page.curve_plot import LineStyle, curve_band, curve_line, line_styles
from pellucid.reports.page.plot_frame import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Frame,
    frame_of,
    round_ticks,
)
from pellucid.reports.wording.numbers import MINUS


def sum_curves(analysis: LayerAnalysis) -> Markup | None:
    """The plot with its legend; None where layers have no common scale, or a model has one row only."""
    curves = [curve_of(model, analysis.sums(model)) for model in analysis.names]
    if not analysis.measure or analysis.row_kind != "layer" or max(len(one.grid) for one in curves) < 2:
        return None
    values = [value for curve in curves for value in (*curve.low, *curve.high, 0.0)]
    frame = frame_of([x for curve in curves for x in curve.grid], values)
    styles = line_styles([curve.method for curve in curves])
    drawing = element(
        "svg",
        *_axes(frame, analysis),
        *(curve_band(curve, frame, styles[curve.method]) for curve in curves),
        *(curve_line(curve, frame, styles[curve.method]) for curve in curves),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label=_spoken(curves, analysis.measure),
        class_="pl-plot",
    )
    caption = element(
        "figcaption",
        element("strong", f"sum over a text's words, in {analysis.measure}"),
        element("small", "mean over the texts; pale bands: 95 % intervals over texts"),
    )
    figure = element("figure", caption, drawing, class_="pl-figure")
    return element("div", fragment(figure, _legend(styles)), class_="pl-plots pl-many")


def curve_of(model: str, sums: Sequence[RowSum]) -> Curve:
    """A model's sums as a curve over its rows, from 0; where there is no interval, its bounds are the mean."""
    means = [row.total.mean for row in sums]
    low, high = (
        tuple(mean if bound != bound else bound for bound, mean in zip(bounds, means, strict=True))
        for bounds in ([row.total.low for row in sums], [row.total.high for row in sums])
    )
    return Curve(model, "sum", tuple(map(float, range(len(sums)))), tuple(means), low, high)


def _axes(frame: Frame, analysis: LayerAnalysis) -> list[Markup]:
    parts = [element("text", analysis.measure, x=2, y=TOP - 14)]
    low, high = frame.y_range
    for tick in (tick for tick in round_ticks(low, high) if low <= tick <= high):
        y = frame.y(tick)
        parts.append(element("line", x1=LEFT, x2=RIGHT, y1=y, y2=y, class_="pl-grid"))
        parts.append(
            element("text", f"{tick:g}".replace("-", MINUS), x=LEFT - 6, y=y + 3.5, text_anchor="end")
        )
    longest = max((model.rows for model in analysis.models), key=len)
    step = -(-len(longest) // 13)
    for column in range(0, len(longest), step):
        x = frame.x(column)
        parts.append(element("line", x1=x, x2=x, y1=BOTTOM, y2=BOTTOM + 4, class_="pl-axis"))
        parts.append(element("text", longest[column], x=x, y=BOTTOM + 15, text_anchor="middle"))
    parts.append(element("line", x1=LEFT, x2=RIGHT, y1=BOTTOM, y2=BOTTOM, class_="pl-axis"))
    middle = (LEFT + RIGHT) / 2
    parts.append(element("text", "layer", x=middle, y=BOTTOM + 33, text_anchor="middle", class_="pl-along"))
    return parts


def _legend(styles: dict[str, LineStyle]) -> Markup:
    items = (element("li", _sample(style), name(model)) for model, style in styles.items())
    return element("ul", *items, class_="pl-lines")


def _sample(style: LineStyle) -> Markup:
    line = element("line", x1=1, x2=33, y1=6, y2=6, class_="pl-line")
    marker = (
        element("path", d=style.marker, transform="translate(17 6)", class_="pl-marker")
        if style.marker
        else None
    )
    sample = element("g", line, marker, class_=style.css_classes)
    return element("svg", sample, viewBox="0 0 34 12", width=34, height=12, aria_hidden="true")


def _spoken(curves: Sequence[Curve], measure: str) -> str:
    ends = ", ".join(f"{one.method} from {one.mean[0]:.2f} to {one.mean[-1]:.2f}" for one in curves)
    return f"Line plot of the sum over words by layer in {measure}: {ends}"
