"""The words of each class as bars with intervals."""

from typing import TYPE_CHECKING

from pellucid.core.corpus.class_words import ClassWords, WordScore
from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.kinds import renderers
from pellucid.reports.figures.canvas import (
    SMALL,
    Palette,
    ThemeName,
    empty_figure,
    fonts,
    footnotes,
    palette,
    panels,
)
from pellucid.reports.markup.escape import plain
from pellucid.reports.wording.method_facts import readable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW = 0.19  # inches a word


@renderers.add(draws="class words")
def words_figure(
    words: ClassWords, *, theme: ThemeName = "light", width: float = 6.3, top: int = 10
) -> "Figure":
    """One panel a class: the words that speak most surely for it, then those against it.

    top: at most so many words for each class and sign. Bars are mean scores, lines 95 % intervals over texts; in brackets
    the number of texts. Stop words are italic. Raises `BadInput` where no word is counted.
    """
    at_least("top", top, 1)
    if not words.words:
        raise BadInput(
            f"There is no word to draw: none occurs in {words.min_texts} texts or more; give more texts, or a lower min_texts."
        )
    shown = {label: words_shown(words, label, top) for label in words.labels}
    colours, n_columns = palette(theme), min(2, len(shown))
    n_rows = -(-len(shown) // n_columns)
    height = ROW * max(map(len, shown.values())) * n_rows + 0.55 * n_rows + 0.35
    figure = empty_figure(width, height, colours)
    axes = panels(figure, n_rows, n_columns, colours)
    for panel, (label, of_label) in zip(axes, shown.items(), strict=False):
        _bars(panel, of_label, colours)
        panel.set_title(plain(label), fontsize=SMALL + 1, loc="left", parse_math=False, family=fonts())
    for panel in axes[len(shown) :]:
        panel.set_axis_off()
    notes = [
        f"Mean score in a text by {readable(words.method)}, with 95 % intervals; (number of texts); stop words italic."
    ]
    footnotes(figure, notes, colours)
    return figure


def words_shown(words: ClassWords, label: str, top: int) -> list[WordScore]:
    """The strongest words for a class, then those against it, the strongest last."""
    against = words.strongest(label, top, "against") if any(one.mean < 0 for one in words.words) else ()
    return [*words.strongest(label, top, "for"), *reversed(against)]


def _bars(panel: "Axes", words: list[WordScore], colours: Palette) -> None:
    places = range(len(words))
    panel.barh(
        places,
        [word.mean for word in words],
        color=[colours.sign(word.mean) for word in words],
        height=0.7,
        alpha=0.75,
    )
    for place, word in zip(places, words, strict=True):
        if word.low == word.low:
            panel.plot([word.low, word.high], [place, place], color=colours.ink, linewidth=0.9)
    panel.axvline(0, color=colours.muted, linewidth=0.6)
    panel.set_yticks(places, [f"{plain(word.word)} ({word.n_texts})" for word in words])
    for tick, word in zip(panel.get_yticklabels(), words, strict=True):
        tick.set(parse_math=False, family=fonts(), style="italic" if word.is_stop_word else "normal")
    panel.set_ylim(len(words) - 0.4, -0.6)
    panel.tick_params(axis="y", length=0)
