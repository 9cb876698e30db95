"""Learnt concepts as a figure: a row a concept, how far answers move where it is taken out, and chance behind it."""

from typing import TYPE_CHECKING

from pellucid.base.kinds import renderers
from pellucid.discovery.concept import LearntConcept
from pellucid.discovery.page import matters_in_words
from pellucid.discovery.record import LearntConcepts
from pellucid.drawing.canvas import (
    SMALL,
    Palette,
    ThemeName,
    empty_figure,
    footnotes,
    hexadecimal,
    palette,
    panels,
    rows_of_words,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW, MOST, LONGEST = 0.2, 40, 44
NOTE = (
    "Points: by how much the logit of the answer moves where the concept is taken out of layer {layer}; lines: 95 % "
    "intervals; grey: a random direction of equal size. Filled: surely more (orange) or less (blue) than that; hollow: "
    "no more.{more}"
)


@renderers.add(draws="learnt concepts", figure="concepts", figure_of=("pellucid.discovery.record.LearntConcepts",))
def concepts_figure(learnt: LearntConcepts, *, theme: ThemeName = "light", width: float = 6.3) -> "Figure":
    """What taking each concept out does to answers, beside a random direction; of more than 40 the largest."""
    drawn, colours = learnt.concepts[:MOST], palette(theme)
    figure = empty_figure(width, ROW * len(drawn) + 0.8, colours)
    (panel,) = panels(figure, 1, 1, colours)
    for place, concept in enumerate(drawn):
        _row(panel, place, concept, colours)
    rows_of_words(panel, [_short(f"{concept.id} {concept.name}") for concept in drawn])
    panel.set_ylim(len(drawn) - 0.4, -0.6)
    panel.set_xlabel("change of the logit", fontsize=SMALL)
    more = f" The {len(learnt) - len(drawn)} smallest concepts are not shown." if len(learnt) > len(drawn) else ""
    footnotes(figure, [NOTE.format(layer=learnt.layer, more=more)], colours)
    return figure


def _row(panel: "Axes", place: int, concept: LearntConcept, colours: Palette) -> None:
    value, chance = concept.removal.value, concept.removal.chance
    panel.plot([chance.low, chance.high], [place, place], color=colours.muted, alpha=0.35, linewidth=6)
    verdicts = {"▲": hexadecimal(colours.theme.plus), "▼": hexadecimal(colours.theme.minus)}
    mark = matters_in_words(concept.removal)[0]
    colour = verdicts.get(mark, colours.ink)
    panel.plot([value.low, value.high], [place, place], color=colour, linewidth=1.1)
    inside = colour if mark in verdicts else colours.paper
    panel.plot([value.mean], [place], "o", markersize=4.5, color=colour, markerfacecolor=inside)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
