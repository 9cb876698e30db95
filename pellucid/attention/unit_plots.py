"""An attention analysis in words, and a plot of what the model would answer by the state of each unit alone."""

import math
from collections.abc import Iterator, Sequence

from pellucid.attention.record import (
    IN_LAYERS,
    AttentionAnalysis,
    AttentionLine,
    ModelAttention,
    UnitPlot,
    VerdictEvidence,
)
from pellucid.drawing.curve_plot import LineStyle, line_styles, sample_of
from pellucid.drawing.html import Markup, element, fragment, hatch_lines, name, scroll_box
from pellucid.drawing.method_facts import readable
from pellucid.drawing.wording import bounds, three

DIVERGENCE, DISTANCE = (
    "divergence of the weights",
    "distance of the answers",
)  # the two lines of a point of the adversary
ANSWERS = {
    "may": "The weights of {name} may be read as an explanation: {reason}.",
    "only as": "The attention of {name} may be read as an explanation only as {reason}.",
    "may not": "The weights of {name} may not be read as an explanation: {reason}.",
    "undecided": "Whether the weights of {name} may be read as an explanation is undecided: {reason}.",
}
ANSWERS_OF_LAYERS = {answer: words.replace("weights of", "attention of") for answer, words in ANSWERS.items()}
MARKS = {
    "may": ("▲", "may be read", "pl-better"),
    "only as": ("△", "only one way", "pl-better"),
    "may not": ("▼", "may not be read", "pl-worse"),
    "undecided": ("○", "undecided", "pl-unclear"),
}
READINGS = {
    "for": ("▲", "for", "pl-better"),
    "against": ("▼", "against", "pl-worse"),
    "unclear": ("○", "unclear", "pl-unclear"),
}
LIMITS = (
    "A state has read the whole text, so a weight belongs to the state at a word and not surely to the word. The "
    "verdict therefore also asks what happens without the word.",
    "A text without a word is a text that the model was not made for; how far the answer moves then is partly its "
    "surprise.",
    "“May be read” is about these texts: the heaviest word is mostly one that matters. It is no promise for a single "
    "text, and none that the weights name every word that matters, nor that people would give the same reason.",
    "Weights with another placement that give the same answer exist for most models. They show that the weights are "
    "not the only ones, not that they are wrong.",
    "An adversary that imitates a model’s answers imitates its mistakes too, and its distances are means over texts of "
    "unequal length; the largest possible Jensen-Shannon divergence is log 2, about 0.69.",
    "Agreement with a gradient or with leave-one-out is agreement of explanations, which can be wrong together.",
    "Numbers of mutual information by clusters depend on the number of clusters and of states, and on the start; "
    "compare them only where both are equal, and with the bias that shuffled states show.",
)


def verdict_in_words(model: ModelAttention) -> str:
    """One sentence: may the weights be read, and why."""
    answers = ANSWERS_OF_LAYERS if model.weighs == IN_LAYERS else ANSWERS
    return answers[model.verdict.answer].format(name=model.name, reason=model.verdict.reason)


def summary_in_words(analysis: AttentionAnalysis) -> str:
    """What was tested."""
    first = analysis.models[0]
    right = f" Right answers: {first.accuracy.mean:.0%}." if not math.isnan(first.accuracy.mean) else ""
    left = f" {_texts(first.too_short)} of fewer than two units left out." if first.too_short else ""
    return f"{_texts(first.n_texts)}; {first.name} weighs {first.weighs}.{right}{left}"


def evidence_in_words(evidence: VerdictEvidence) -> str:
    """What one test says for the verdict, with its number and the line that it is compared with."""
    symbol, word, _ = READINGS[evidence.reading]
    value = f" {three(evidence.value.mean)} ({bounds(evidence.value)})" if not math.isnan(evidence.value.mean) else ""
    return f"{symbol} {word}: {evidence.sentence} {readable(evidence.test)}{value}; {evidence.bound}."


def ordered_lines(model: ModelAttention) -> list[AttentionLine]:
    """The lines that are no points of curves, those of the verdict first."""
    decisive = [evidence.test.partition(",")[0] for evidence in model.verdict.evidence]  # "heaviest_decides, rollout"
    lines = [line for line in model.lines if not line.along]
    return sorted(lines, key=lambda line: line.test.partition("(")[0] not in decisive)


def line_name(line: AttentionLine) -> str:
    """The test, and which of its lines."""
    return f"{readable(line.test)}, {line.part}" if line.part else readable(line.test)


def value_in_words(line: AttentionLine) -> str:
    """The mean with its interval."""
    return f"{three(line.value.mean)} ({bounds(line.value)})"


def counts_in_words(line: AttentionLine) -> str:
    """How many were judged, and the deviation of draws."""
    draws = "" if math.isnan(line.deviation) else f", draws ± {three(line.deviation)}"
    left = f", {line.left_out:,} without" if line.left_out else ""
    return f"{line.n:,}{left}{draws}"


def idle_in_words(line: AttentionLine) -> str:
    """What weights give that have nothing to do with the answer; empty where that is not known."""
    return "" if math.isnan(line.idle) else f"Irrelevant weights: {line.idle:g}."


def _texts(count: int) -> str:
    return f"{count:,} text{'' if count == 1 else 's'}"


# What the model would answer by the state of each unit alone: a plot a text, a line a model, its own answer dotted.
#
# Tutek & Šnajder (2020), "Staying True to Your Word", figures 2 to 7. Inline SVG without script.

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
    plots = (_figure(models_of(analysis, index), styles) for index in range(len(first.plots)))
    return fragment(_legend(styles), *plots)


def models_of(analysis: AttentionAnalysis, text_index: int) -> Drawn:
    """The models whose plot of this text has the same units; the first always."""
    first = analysis.models[0].plots[text_index]
    others = ((model, model.plots[text_index]) for model in analysis.models if text_index < len(model.plots))
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
    hatched = "; hatched: the model cannot read it" if first.unread else ""
    caption = element(
        "figcaption",
        element("strong", name(first.text)),
        element("small", name(f"“{label}” by the state of one word alone; bars: the weight{hatched}")),
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
    own_y = _y(plot.own[place])
    line = element("polyline", points=" ".join(f"{x:g},{y:g}" for x, y in points), class_="pl-line")
    markers = [
        element("path", d=style.marker, transform=f"translate({x:g} {y:g})", class_="pl-marker")
        for x, y in points
        if style.marker
    ]
    dotted = element("line", x1=LEFT, x2=_x(len(points) - 1) + STEP / 2, y1=own_y, y2=own_y, class_="pl-own")
    return [element("g", dotted, line, *markers, class_=style.css_classes)]


def _bars(plot: UnitPlot) -> Iterator[Markup]:
    """The weights, under the plot; the heaviest is as high as there is room."""
    most = max(plot.weights) or 1.0
    for index, weight in enumerate(plot.weights):
        height = round((BARS - 6) * weight / most, 2)
        yield element("rect", x=_x(index) - 5, y=TOP + HIGH + BARS - height, width=10, height=height, class_="pl-full")


def _words(plot: UnitPlot) -> Iterator[Markup]:
    """The words under the bars; hatched those that the model cannot read."""
    top = TOP + HIGH + BARS
    for index, word in enumerate(plot.words):
        short = word if len(word) <= LONGEST else f"{word[: LONGEST - 1]}…"
        if index in plot.unread:
            lines = hatch_lines(_x(index) - STEP / 2, top + 2, STEP, min(LABELS - 4, 7 * len(short) + 8))
            yield element("g", element("title", f"{word}: the model cannot read it"), *lines, class_="pl-hatch")
        place = f"translate({_x(index) + 3:g} {top + 6:g}) rotate(-90)"
        yield element("text", short, transform=place, text_anchor="end")


def _x(unit_index: int) -> float:
    return LEFT + STEP * (unit_index + 0.5)


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
        chances = [probability[place] for probability in plot.probabilities]
        means.append(f"{model.name} from {min(chances):.2f} to {max(chances):.2f}, its own {plot.own[place]:.2f}")
    return f"Probability of {label} by single units: {'; '.join(means)}"
