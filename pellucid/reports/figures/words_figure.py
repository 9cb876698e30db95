"""The words of each class as bars with intervals."""

from typing import TYPE_CHECKING

from pellucid.core.corpus.class_words import ClassWords, WordScore
from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.kinds import renderers
from pellucid.reports.figures.canvas import (
    Palette,
    ThemeName,
    empty_figure,
    footnotes,
    grid,
    palette,
    panels,
    rows_of_words,
    title_of_class,
)
from pellucid.reports.wording.method_facts import readable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW = 0.19  # inches a word
COLUMNS = 3  # panels beside each other
LEFT_OUT, ITALIC = "Function words are left out.", "Italic: function words."
SURE, UNSURE = 0.75, 0.25  # opacity of bars whose interval leaves 0 out, and of the others


@renderers.add(draws="class words")
def words_figure(
    words: ClassWords,
    *,
    theme: ThemeName = "light",
    width: float = 6.3,
    top: int = 6,
    function_words: bool = False,
) -> "Figure":
    """One panel a class: the words that speak most surely for it, then those against it.

    top: at most so many words for each class and sign. function_words: whether function words and punctuation are drawn
    among the others, in italics; they are often the surest and say least to a reader. Bars are mean scores, lines 95 %
    intervals over texts, pale where the interval crosses 0; in brackets the number of texts. Raises `BadInput` where no word is counted.
    """
    at_least("top", top, 1)
    if not words.words:
        raise BadInput(
            f"There is no word to draw: none occurs in {words.min_texts} texts or more; give more texts, or a lower min_texts."
        )
    by_label = {label: words.only(label) for label in words.labels}
    if not function_words:
        by_label = {label: of_label.content() for label, of_label in by_label.items()}
    shown = {label: words_shown(of_label, label, top) for label, of_label in by_label.items()}
    n_drawn = sum(len(of_label.words) for of_label in by_label.values())
    colours, n_rows = palette(theme), grid(len(shown), COLUMNS)[0]
    height = ROW * max(map(len, shown.values())) * n_rows + 0.55 * n_rows + 0.35
    figure = empty_figure(width, height, colours)
    axes = panels(figure, len(shown), COLUMNS, colours)
    for panel, (label, of_label) in zip(axes, shown.items(), strict=True):
        _bars(panel, of_label, colours)
        title_of_class(panel, label)
    notes = [
        f"Mean score of a word by {readable(words.method)}, with its 95 % interval; in brackets the number of texts. "
        "Orange speaks for the class, blue against it; pale: the interval crosses 0, so it may be either. "
        + (LEFT_OUT if n_drawn < len(words.words) else ITALIC)
    ]
    footnotes(figure, notes, colours)
    return figure


def words_shown(words: ClassWords, label: str, top: int) -> list[WordScore]:
    """The strongest words for a class, then those against it, the strongest last."""
    against = words.strongest(label, top, "against") if any(one.mean < 0 for one in words.words) else ()
    return [*words.strongest(label, top, "for"), *reversed(against)]


def _bars(panel: "Axes", words: list[WordScore], colours: Palette) -> None:
    from matplotlib.colors import to_rgba

    places = range(len(words))
    panel.barh(
        places,
        [word.mean for word in words],
        color=[to_rgba(colours.sign(word.mean), SURE if word.is_sure else UNSURE) for word in words],
        height=0.7,
    )
    for place, word in zip(places, words, strict=True):
        if word.low == word.low:
            panel.plot([word.low, word.high], [place, place], color=colours.ink, linewidth=0.9)
    panel.axvline(0, color=colours.muted, linewidth=0.6)
    stop_words = {place for place, word in zip(places, words, strict=True) if word.is_stop_word}
    rows_of_words(panel, [f"{word.word} ({word.n_texts})" for word in words], italic=stop_words)
    panel.set_ylim(len(words) - 0.4, -0.6)
