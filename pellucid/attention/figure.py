"""Figures of attention: units whose weights are tested, and how far an adversary comes."""

from typing import TYPE_CHECKING

from pellucid.attention.page import curve_points
from pellucid.attention.record import IN_LAYERS, AttentionAnalysis, UnitPlot
from pellucid.attention.unit_plots import answered_class, models_of
from pellucid.base.errors import BadInput, BadSetting
from pellucid.base.kinds import renderers
from pellucid.comparison.figure import DrawnLine, line_styles
from pellucid.drawing.canvas import (
    SMALL,
    ThemeName,
    empty_figure,
    fonts,
    footnotes,
    legend_above,
    palette,
    panels,
    title_of_class,
)
from pellucid.drawing.html import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEIGHTS = (1.9, 0.95)  # inches of the lines, and of the weights with the words below
LONGEST = 18  # characters of a word that are shown


@renderers.add(
    draws="attention analysis",
    figure="units",
    figure_of=("pellucid.attention.record.AttentionAnalysis",),
    first_of=("pellucid.attention.record.AttentionAnalysis",),
)
def units_figure(
    analysis: AttentionAnalysis, *, theme: ThemeName = "light", width: float = 6.3, text: int = 0
) -> "Figure":
    """The probability of the answer by each unit's state alone, above the weights of the first model.

    One text of an attention analysis as a figure: what the state of each unit alone answers, a line a
    model, its own answer dotted.

    Source: Tutek & Šnajder (2020), "Staying True to Your Word", figures 2 to 7.

    text: its number among the analysis's plots, from 0. Raises `BadSetting` for one that is not there, `BadInput`
    without plots.
    """
    plots = analysis.models[0].plots
    if analysis.models[0].weighs == IN_LAYERS:
        raise BadInput(
            "This analysis is of attention in layers, where no single unit has an answer to draw; write its page with "
            "report."
        )
    if not plots:
        raise BadInput("This analysis has no plot of a text: none had a unit. Give longer texts.")
    if isinstance(text, bool) or not isinstance(text, int) or not 0 <= text < len(plots):
        raise BadSetting(f"text={text} is no text of this analysis; give 0 to {len(plots) - 1}.")
    drawn, colours = models_of(analysis, text), palette(theme)
    first, label = plots[text], answered_class(plots[text])
    figure = empty_figure(width, sum(HEIGHTS) + 0.35, colours)
    lines, weights = panels(figure, len(HEIGHTS), 1, colours, HEIGHTS)
    styles = line_styles([model.name for model, _ in drawn], colours)
    for model, plot in drawn:
        _line(lines, plot, label, plain(model.name), styles[model.name])
    lines.set(ylim=(-0.02, 1.02), xlim=(-0.5, len(first.words) - 0.5), xticks=[])
    title_of_class(lines, f"probability of {label}")
    weights.bar(range(len(first.words)), first.weights, width=0.6, color=colours.muted)
    for place in first.unread:  # hatched, as on a page
        end, look = place + 0.5, {"hatch": "////", "edgecolor": colours.ink}
        weights.axvspan(place - 0.5, end, fill=False, alpha=0.4, linewidth=0, **look)  # type: ignore[arg-type]
    title_of_class(weights, "weight" if len(drawn) == 1 else f"weight of {drawn[0][0].name}")
    _words(weights, first)
    if len(drawn) > 1:
        legend_above(figure, lines, colours)
    key = "; hatched: a word that the model cannot read" if first.unread else ""
    footnotes(figure, [f"By the state of each {_unit(analysis)} alone; dotted: the model's own answer{key}."], colours)
    return figure


def _line(panel: "Axes", plot: UnitPlot, label: str, name: str, style: DrawnLine) -> None:
    place = plot.classes.index(label) if label in plot.classes else 0
    chances = [probability[place] for probability in plot.probabilities]
    panel.plot(range(len(chances)), chances, label=name, linewidth=1.3, markersize=3.5, **style)
    panel.axhline(plot.own[place], color=style["color"], linewidth=0.9, linestyle=":")


def _words(panel: "Axes", plot: UnitPlot) -> None:
    """The units' names below the lower panel, which has as many columns."""
    shown = [plain(word if len(word) <= LONGEST else f"{word[: LONGEST - 1]}…") for word in plot.words]
    panel.set_xlim(-0.5, len(shown) - 0.5)
    panel.set_xticks(range(len(shown)), shown, rotation=90)
    for tick in panel.get_xticklabels():
        tick.set(parse_math=False, family=fonts(), fontsize=SMALL - (len(shown) > 40))
    panel.tick_params(axis="x", length=0)


def _unit(analysis: AttentionAnalysis) -> str:
    return analysis.models[0].weighs.removesuffix("s")


if TYPE_CHECKING:
    from matplotlib.figure import Figure


@renderers.add(
    draws="attention analysis", figure="adversary", figure_of=("pellucid.attention.record.AttentionAnalysis",)
)
def adversary_figure(analysis: AttentionAnalysis, *, theme: ThemeName = "light", width: float = 6.3) -> "Figure":
    """A line a model, a point a λ. Raises `BadInput` where no adversary was trained.

    The curve of the imitation adversary as a figure: how far weights lie from the model's own, and how
    far the answers then move.

    Source: Tutek & Šnajder (2020), "Staying True to Your Word", figure 1.
    """
    curves = {model.name: points for model in analysis.models if (points := curve_points(model))}
    if not curves:
        raise BadInput(
            "No adversary was trained for this analysis; give attention_analysis train=, or `pellucid attention` "
            "--train."
        )
    colours = palette(theme)
    figure = empty_figure(width, 2.9, colours)
    [panel] = panels(figure, 1, 1, colours)
    for name, style in line_styles(list(curves), colours).items():
        _, divergences, distances = zip(*curves[name], strict=True)
        style["markevery"] = (0, 1)
        panel.plot(divergences, distances, label=plain(name), linewidth=1.3, markersize=4, **style)
        for at, x, y in curves[name]:
            panel.annotate(
                f"{at:g}", (x, y), (4, 3), textcoords="offset points", fontsize=SMALL - 1, color=style["color"]
            )
    title_of_class(panel, "distance of the answers")
    panel.set_xlabel("divergence of the weights, in nats", fontsize=SMALL)
    panel.set(xlim=(0, None), ylim=(0, None))
    legend_above(figure, panel, colours)
    notes = [
        "A point a λ: a new model, trained to answer alike with weights as far away as it can. It imitates mistakes "
        "too."
    ]
    footnotes(figure, notes, colours)
    return figure
