"""What the model would answer by the state of each unit alone: a plot a text, a line a model, its own answer dotted.

Tutek & Šnajder (2020), "Staying True to Your Word", figures 2 to 7. Inline SVG without script.
"""

from collections.abc import Iterator, Sequence

from pellucid.attention.record import AttentionAnalysis, ModelAttention, UnitPlot
from pellucid.drawing.curve_plot import LineStyle, line_styles, sample_of
from pellucid.drawing.html import Markup, element, fragment, name, scroll_box

LEFT, TOP, STEP, HIGH, LABELS, BARS = 34, 22, 16, 150, 84, 26
NARROWEST = 8  # units: a plot of fewer is as wide, so that the text above it fits
SCALE = 1.2  # pixels a unit of the drawing: its letters are 12 pixels high, on a phone too, where long plots scroll
LONGEST = 14  # characters of a word below the plot
Drawn = list[tuple[ModelAttention, UnitPlot]]


def unit_plots(analysis: AttentionAnalysis) -> Markup | None:
    """A plot for each text that the first model has one for, and the legend; None without any."""
    first = analysis.models[0]
    if not first.plots:
        return None
    styles = line_styles(analysis.names)
    plots = (_figure(models_of(analysis, number), styles) for number in range(len(first.plots)))
    return fragment(_legend(styles), *plots)


def models_of(analysis: AttentionAnalysis, number: int) -> Drawn:
    """The models whose plot of this text has the same units; the first always."""
    first = analysis.models[0].plots[number]
    others = ((model, model.plots[number]) for model in analysis.models if number < len(model.plots))
    return [(model, plot) for model, plot in others if plot.words == first.words]


def answered_class(plot: UnitPlot) -> str:
    """The class that the model gives the whole text."""
    return plot.classes[max(range(len(plot.classes)), key=plot.own.__getitem__)]


def _figure(drawn: Drawn, styles: dict[str, LineStyle]) -> Markup:
    first = drawn[0][1]
    label = answered_class(first)
    width, height = LEFT + STEP * max(len(first.words), NARROWEST) + 10, TOP + HIGH + BARS + LABELS
    drawing = element(
        "svg",
        *_axes(width, label),
        *_bars(first),
        *_words(first),
        *(part for model, plot in drawn for part in _line(plot, label, styles[model.name])),
        viewBox=f"0 0 {width} {height}",
        width=f"{width * SCALE:g}",
        height=f"{height * SCALE:g}",
        role="img",
        aria_label=_spoken(drawn, label),
        class_="pl-plot pl-natural",
    )
    caption = element(
        "figcaption",
        element("strong", name(first.text)),
        element("small", name(f"“{label}” by the state of one word alone; bars: the weight")),
    )
    box = scroll_box(drawing, f"Text {first.text}, unit by unit")
    return element("figure", caption, box, class_="pl-figure pl-unit-plot")


def _axes(width: float, label: str) -> Iterator[Markup]:
    yield element("text", f"probability of “{label}”", x=2, y=TOP - 10)
    for tick in (0.0, 0.5, 1.0):
        y = _y(tick)
        yield element("line", x1=LEFT, x2=width - 4, y1=y, y2=y, class_="pl-grid")
        yield element("text", f"{tick:g}", x=LEFT - 6, y=y + 3.5, text_anchor="end")


def _line(plot: UnitPlot, label: str, style: LineStyle) -> list[Markup]:
    """One model's line with its markers, and its own answer, dotted."""
    place = plot.classes.index(label) if label in plot.classes else 0
    points = [(_x(n), _y(chances[place])) for n, chances in enumerate(plot.probabilities)]
    own = _y(plot.own[place])
    line = element("polyline", points=" ".join(f"{x:g},{y:g}" for x, y in points), class_="pl-line")
    markers = [
        element("path", d=style.marker, transform=f"translate({x:g} {y:g})", class_="pl-marker")
        for x, y in points
        if style.marker
    ]
    dotted = element("line", x1=LEFT, x2=_x(len(points) - 1) + STEP / 2, y1=own, y2=own, class_="pl-own")
    return [element("g", dotted, line, *markers, class_=style.css_classes)]


def _bars(plot: UnitPlot) -> Iterator[Markup]:
    """The weights, under the plot; the heaviest is as high as there is room."""
    most = max(plot.weights) or 1.0
    for number, weight in enumerate(plot.weights):
        height = round((BARS - 6) * weight / most, 2)
        yield element(
            "rect", x=_x(number) - 5, y=TOP + HIGH + BARS - height, width=10, height=height, class_="pl-full"
        )


def _words(plot: UnitPlot) -> Iterator[Markup]:
    for number, word in enumerate(plot.words):
        short = word if len(word) <= LONGEST else f"{word[: LONGEST - 1]}…"
        place = f"translate({_x(number) + 3:g} {TOP + HIGH + BARS + 6:g}) rotate(-90)"
        yield element("text", short, transform=place, text_anchor="end")


def _x(number: int) -> float:
    return LEFT + STEP * (number + 0.5)


def _y(probability: float) -> float:
    return round(TOP + HIGH * (1 - min(max(probability, 0.0), 1.0)), 2)


def _legend(styles: dict[str, LineStyle]) -> Markup:
    items = (element("li", sample_of(style), name(model)) for model, style in styles.items())
    note = element("li", "dotted: each model’s own probability for the whole text", class_="pl-muted")
    return element("ul", *items, note, class_="pl-lines")


def _spoken(drawn: Sequence[tuple[ModelAttention, UnitPlot]], label: str) -> str:
    means = []
    for model, plot in drawn:
        place = plot.classes.index(label) if label in plot.classes else 0
        chances = [one[place] for one in plot.probabilities]
        means.append(
            f"{model.name} from {min(chances):.2f} to {max(chances):.2f}, its own {plot.own[place]:.2f}"
        )
    return f"Probability of {label} by single units: {'; '.join(means)}"
