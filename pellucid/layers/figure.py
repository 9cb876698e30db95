"""One text of a layer analysis as a figure: a panel a model, a line a layer or step, a column a word."""

from itertools import pairwise
from typing import TYPE_CHECKING

from pellucid.base.errors import BadInput
from pellucid.base.kinds import renderers
from pellucid.drawing.canvas import (
    SMALL,
    Palette,
    ThemeName,
    empty_figure,
    fonts,
    footnotes,
    palette,
    panels,
    rows_of_words,
    title_of_class,
)
from pellucid.drawing.colours import ColourRange, colour_range
from pellucid.drawing.html import plain
from pellucid.drawing.wording import three
from pellucid.layers.record import LayerAnalysis
from pellucid.layers.word_tables import drawn_map
from pellucid.results.word_map import WordMap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW, HEAD = 0.19, 0.95  # inches of a line, and of the words above the first one
MOST_WORDS = 60  # whose names can still be read at the width of a page
LONGEST = 18  # characters of a word that are shown
OWN = "The strongest colour of each {row} is its own largest score: compare words within a {row}."
ONE = "Colours from {low} (none) to {high} {measure}, in all panels."


@renderers.add(draws="layer analysis", figure="map", figure_of=("pellucid.layers.record.LayerAnalysis",))
def layer_map_figure(
    analysis: LayerAnalysis, *, theme: ThemeName = "light", width: float = 6.3, text: int = 0
) -> "Figure":
    """The scores of one text's words in every layer of each model, as colours.

    text: its number in the analysis, from 0. Raises `BadSetting` for a text that is not there, `BadInput` for one of
    more than 60 words.
    """
    maps = {name: drawn_map(analysis, text, name) for name in analysis.names}
    longest = max(len(word_map.words) for word_map in maps.values())
    if longest > MOST_WORDS:
        raise BadInput(
            f"The text has {longest} words; a figure has room for {MOST_WORDS}. Draw a shorter one, or write a page."
        )
    colours, heights = palette(theme), [HEAD + ROW * len(word_map.rows) for word_map in maps.values()]
    figure = empty_figure(width, sum(heights) + 0.35, colours)
    common = colour_range(word_map.scores for word_map in maps.values())
    for panel, (name, word_map) in zip(panels(figure, len(maps), 1, colours, heights), maps.items(), strict=True):
        _map(panel, word_map, common if analysis.measure else None, colours)
        panel.set_ylabel(analysis.row_kind, fontsize=SMALL, color=colours.muted)
        if len(maps) > 1:
            title_of_class(panel, name)
    scale = ONE.format(low=three(common.low), high=three(common.high), measure=plain(analysis.measure))
    footnotes(figure, [scale if analysis.measure else OWN.format(row=analysis.row_kind)], colours)
    return figure


def _map(panel: "Axes", word_map: WordMap, common: ColourRange | None, colours: Palette) -> None:
    """One model's lines; common: the colours of all panels, None: each line from 0 to its own largest score."""
    from matplotlib.patches import Rectangle

    for row, scores in enumerate(word_map.above_rounding.tolist()):
        ends = common or ColourRange(0.0, max(map(abs, scores)))
        for column, score in enumerate(scores):
            cell = Rectangle((column - 0.5, row - 0.5), 1, 1, edgecolor=colours.paper, linewidth=0.6)
            cell.set_facecolor(colours.shade(score - ends.low, ends.width))
            panel.add_patch(cell)
    for column, (before, place) in enumerate(pairwise(word_map.places), 1):
        if before[0] != place[0]:  # the second text begins
            panel.axvline(column - 0.5, color=colours.ink, linewidth=1.0)
    panel.set_xlim(-0.5, len(word_map.words) - 0.5)
    panel.set_ylim(len(word_map.rows) - 0.5, -0.5)
    panel.spines[["left", "bottom"]].set_visible(False)
    rows_of_words(panel, [_short(row) for row in word_map.rows])
    panel.xaxis.tick_top()
    panel.set_xticks(range(len(word_map.words)), [_short(word) for word in word_map.words], rotation=90)
    for tick in panel.get_xticklabels():
        tick.set(parse_math=False, family=fonts(), fontsize=SMALL - (len(word_map.words) > 40))
    panel.tick_params(axis="x", length=0)


def _short(word: str) -> str:
    return plain(word if len(word) <= LONGEST else f"{word[: LONGEST - 1]}…")
