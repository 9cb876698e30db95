"""The curve of the imitation adversary: how far weights can lie from the model's own, and how far the answers then move.

Tutek & Šnajder (2020), "Staying True to Your Word", figure 1. Inline SVG without script.
"""

from collections.abc import Sequence

from pellucid.core.results.attention_analysis import AttentionAnalysis, ModelAttention
from pellucid.reports.attention.wording import DISTANCE, DIVERGENCE
from pellucid.reports.markup.html import Markup, element, fragment, name
from pellucid.reports.page.curve_plot import LineStyle, line_styles, sample_of
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
from pellucid.reports.wording.numbers import three

Point = tuple[float, float, float]  # lambda, divergence of the weights, distance of the answers


def adversary_curve(analysis: AttentionAnalysis) -> Markup | None:
    """A line a model, a point a lambda; None where no adversary was trained."""
    curves = {model.name: points for model in analysis.models if (points := curve_points(model))}
    if not curves:
        return None
    every = [point for points in curves.values() for point in points]
    frame = frame_of([0.0, *(x for _, x, _ in every)], [0.0, *(y for _, _, y in every)])
    styles = line_styles(list(curves))
    lines = [part for model, points in curves.items() for part in _line(points, frame, styles[model])]
    drawing = element(
        "svg",
        *_axes(frame),
        *lines,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label=_spoken(curves),
        class_="pl-plot",
    )
    items = (element("li", sample_of(styles[model]), name(model)) for model in curves)
    caption = element(
        "figcaption",
        element("strong", "imitation adversary"),
        element("small", "a point a λ: a new model that answers alike with weights as far away as it can"),
    )
    figure = element("figure", caption, drawing, class_="pl-figure")
    return element(
        "div", fragment(figure, element("ul", *items, class_="pl-lines")), class_="pl-plots pl-many"
    )


def curve_points(model: ModelAttention) -> list[Point]:
    """In the order of lambda."""
    lines = [line for line in model.lines if line.along]
    of = {(line.at, line.part): line.value.mean for line in lines}
    return [
        (at, of[at, DIVERGENCE], of[at, DISTANCE])
        for at in sorted({line.at for line in lines})
        if {(at, DIVERGENCE), (at, DISTANCE)} <= of.keys()
    ]


def _axes(frame: Frame) -> list[Markup]:
    parts = [element("text", "distance of the answers", x=2, y=TOP - 14)]
    for tick in round_ticks(*frame.y_range):
        y = frame.y(tick)
        parts.append(element("line", x1=LEFT, x2=RIGHT, y1=y, y2=y, class_="pl-grid"))
        parts.append(element("text", f"{tick:g}", x=LEFT - 6, y=y + 3.5, text_anchor="end"))
    low, high = frame.x_range
    for tick in (tick for tick in round_ticks(low, high) if low <= tick <= high):
        parts.append(element("text", f"{tick:g}", x=frame.x(tick), y=BOTTOM + 15, text_anchor="middle"))
    parts.append(element("line", x1=LEFT, x2=RIGHT, y1=BOTTOM, y2=BOTTOM, class_="pl-axis"))
    middle = (LEFT + RIGHT) / 2
    label = "divergence of the weights, in nats"
    return [*parts, element("text", label, x=middle, y=BOTTOM + 33, text_anchor="middle", class_="pl-along")]


def _line(points: Sequence[Point], frame: Frame, style: LineStyle) -> list[Markup]:
    places = [(frame.x(x), frame.y(y)) for _, x, y in points]
    line = element("polyline", points=" ".join(f"{x:g},{y:g}" for x, y in places), class_="pl-line")
    markers = [
        element(
            "path",
            element("title", f"λ = {at:g}"),
            d=style.marker,
            transform=f"translate({x:g} {y:g})",
            class_="pl-marker",
        )
        for (at, _, _), (x, y) in zip(points, places, strict=True)
        if style.marker
    ]
    return [element("g", line, *markers, class_=style.css_classes)]


def _spoken(curves: dict[str, list[Point]]) -> str:
    parts = [
        f"{model}: "
        + ", ".join(f"λ {at:g} divergence {three(x)}, distance {three(y)}" for at, x, y in points)
        for model, points in curves.items()
    ]
    return f"Divergence of weights and distance of answers by λ. {'; '.join(parts)}"
