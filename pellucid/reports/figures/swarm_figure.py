"""The scores of a corpus as a beeswarm: a row a word, a dot a text."""

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pellucid.base.checks import at_least
from pellucid.base.errors import BadInput
from pellucid.base.kinds import renderers
from pellucid.reports.figures.canvas import (
    Palette,
    ThemeName,
    empty_figure,
    footnotes,
    palette,
    panels,
    rows_of_words,
    title_of_class,
)
from pellucid.reports.wording.method_facts import readable
from pellucid.results.class_words import ClassWords
from pellucid.results.document_frequencies import word_form
from pellucid.results.results import Results
from pellucid.results.word_counts import class_of, distinct_texts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW, BINS = 0.24, 60
Dot = tuple[float, bool]  # a word's mean score in a text; whether the model was wrong about it


@renderers.add(
    draws="results",
    figure="scores",
    figure_of=("pellucid.results.results.Results",),
    first_of=("pellucid.results.results.Results",),
)
def swarm_figure(
    results: Results, *, theme: ThemeName = "light", width: float = 6.3, top: int = 12
) -> "Figure":
    """One panel a class, a row for each of its strongest words, and a dot for each text that contains the word.

    top: at most so many words a class, those whose interval is farthest from zero, for it or against it. Dots of texts that
    the model got wrong are hollow. Raises `BadInput` where no interval leaves zero out, `BadSetting` where methods are mixed.
    """
    at_least("top", top, 1)
    words = results.words()
    dots = dots_by_word(results)
    shown = {label: surest_words(words, label, top) for label in words.labels}
    shown = {label: of_label for label, of_label in shown.items() if of_label}
    if not shown:
        raise BadInput(
            f"There is no word to draw: none that occurs in {words.min_texts} texts or more has an interval without zero; give "
            "more texts."
        )
    colours = palette(theme)
    heights = [ROW * len(of_label) + 0.5 for of_label in shown.values()]
    figure = empty_figure(width, sum(heights) + 0.35, colours)
    axes = panels(figure, len(shown), 1, colours, heights)
    for panel, (label, of_label) in zip(axes, shown.items(), strict=True):
        _rows(panel, of_label, [dots[label, word] for word in of_label], colours)
        title_of_class(panel, label)
    notes = [
        f"A dot is a text: the word's mean score in it by {readable(words.method)}. Hollow: the answer was wrong."
    ]
    footnotes(figure, notes, colours)
    return figure


def dots_by_word(results: Results) -> dict[tuple[str, str], list[Dot]]:
    """(class, word) -> a dot for each different text in which the class is explained and the word occurs."""
    dots: dict[tuple[str, str], list[Dot]] = defaultdict(list)
    for one in distinct_texts(results.explanations):
        scores: dict[str, list[float]] = defaultdict(list)
        for word, score in one.shown_row().as_iterated().above_rounding():
            scores[word_form(word)].append(score)
        for form, of_form in scores.items():
            dots[class_of(one.target), form].append((float(np.mean(of_form)), one.is_correct is False))
    return dots


def surest_words(words: ClassWords, label: str, top: int) -> list[str]:
    """The words of a class whose intervals leave zero out, the ones farthest from it, from those most for it to those most against it."""
    of_label = [word for word in words.words if word.label == label and max(word.low, -word.high) > 0]
    surest = sorted(of_label, key=lambda word: -max(word.low, -word.high))[:top]
    return [word.word for word in sorted(surest, key=lambda word: -word.mean)]


def _rows(panel: "Axes", words: Sequence[str], dots: Sequence[Sequence[Dot]], colours: Palette) -> None:
    largest = max(abs(score) for of_word in dots for score, _ in of_word) or 1.0
    for place, of_word in enumerate(dots):
        scores = np.array([score for score, _ in of_word])
        heights = place + 0.38 * spread(scores, largest)
        sign = [colours.sign(score) for score in scores]
        inside = ["none" if wrong else colour for (_, wrong), colour in zip(of_word, sign, strict=True)]
        panel.scatter(scores, heights, s=9, c=inside, edgecolors=sign, linewidths=0.8)
    panel.axvline(0, color=colours.muted, linewidth=0.6, zorder=0)
    rows_of_words(panel, words)
    panel.set_ylim(len(words) - 0.5, -0.5)


def spread(scores: np.ndarray, largest: float) -> np.ndarray:
    """[text]: how far each dot is moved from the middle of its row, -1 to 1, so that equal scores stand beside each other."""
    bins = np.round(scores / largest * BINS).astype(int)
    offsets = np.zeros(len(scores))
    for bin_ in np.unique(bins):
        members = np.flatnonzero(bins == bin_)
        order = np.arange(len(members))
        offsets[members] = (order + 1) // 2 * np.where(order % 2, 1, -1)
    most = max(np.abs(offsets).max(initial=0), 4)
    return offsets / most
