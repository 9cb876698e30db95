"""A line a concept over the layers: inline SVG without script."""

from collections.abc import Sequence

from pellucid.core.results.concept_analysis import ConceptDensity
from pellucid.reports.markup.html import Markup, element, name
from pellucid.reports.page.curve_plot import MARKERS, LineStyle
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

COLOURS, DASHES = 8, 4
LARGE = 10_000  # from here on an axis counts in thousands: its numbers have room for four digits


def concept_styles(concepts: Sequence[str]) -> dict[str, LineStyle]:
    """The same colour, dash and marker for a concept in all plots."""
    return {
        concept: LineStyle(
            f"pl-c{number % COLOURS + 1} pl-d{(number + number // COLOURS) % DASHES + 1}",
            MARKERS[number % len(MARKERS)],
        )
        for number, concept in enumerate(concepts)
    }


def layer_plot(density: ConceptDensity, layers: Sequence[int], concepts: Sequence[str], about: str) -> Markup:
    """r by layer under one density, a line a concept, from 0 up."""
    values = density.remaining
    frame = frame_of([float(layer) for layer in layers], [0.0, *values.ravel().tolist()])
    styles = concept_styles(concepts)
    spoken = ", ".join(
        f"{concept} {first:.3g} to {last:.3g}"
        for concept, first, last in zip(concepts, values[0], values[-1], strict=True)
    )
    drawing = element(
        "svg",
        *_axes(frame, layers),
        *(_line(frame, layers, values[:, n].tolist(), styles[one], one) for n, one in enumerate(concepts)),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label=f"r by layer, {density.name} density: {spoken}",
        class_="pl-plot",
    )
    caption = element("figcaption", element("strong", name(density.name)), element("small", about))
    return element("figure", caption, drawing, class_="pl-figure")


def concept_legend(concepts: Sequence[str]) -> Markup:
    """What each line stands for."""
    styles = concept_styles(concepts)
    return element(
        "ul", *(element("li", _sample(styles[one]), name(one)) for one in concepts), class_="pl-lines"
    )


def _axes(frame: Frame, layers: Sequence[int]) -> list[Markup]:
    unit, name_of_unit = (1000, "1,000 nats") if max(map(abs, frame.y_range)) >= LARGE else (1, "nats")
    parts = [element("text", f"r, in {name_of_unit}", x=2, y=TOP - 14)]
    for tick in round_ticks(*frame.y_range):
        y, label = frame.y(tick), f"{tick / unit:g}".replace("-", "\u2212")
        parts.append(element("line", x1=LEFT, x2=RIGHT, y1=y, y2=y, class_="pl-grid"))
        parts.append(element("text", label, x=LEFT - 6, y=y + 3.5, text_anchor="end"))
    every = -(-len(layers) // 12)
    for layer in layers[::every]:
        parts.append(element("text", str(layer), x=frame.x(layer), y=BOTTOM + 15, text_anchor="middle"))
    parts.append(element("line", x1=LEFT, x2=RIGHT, y1=BOTTOM, y2=BOTTOM, class_="pl-axis"))
    parts.append(element("text", "layer", x=(LEFT + RIGHT) / 2, y=BOTTOM + 33, text_anchor="middle"))
    return parts


def _line(
    frame: Frame, layers: Sequence[int], values: Sequence[float], style: LineStyle, concept: str
) -> Markup:
    points = [(frame.x(layer), frame.y(value)) for layer, value in zip(layers, values, strict=True)]
    line = element("polyline", points=" ".join(f"{x:g},{y:g}" for x, y in points), class_="pl-line")
    markers = [_marker(style, x, y) for x, y in points]
    return element("g", element("title", concept), line, *markers, class_=style.css_classes)


def _marker(style: LineStyle, x: float, y: float) -> Markup:
    return element("path", d=style.marker, transform=f"translate({x:g} {y:g})", class_="pl-marker")


def _sample(style: LineStyle) -> Markup:
    line = element("line", x1=1, x2=33, y1=6, y2=6, class_="pl-line")
    sample = element("g", line, _marker(style, 17, 6), class_=style.css_classes)
    return element("svg", sample, viewBox="0 0 34 12", width=34, height=12, aria_hidden="true")
