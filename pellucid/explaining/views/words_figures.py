"""The words of classes as figures: bars with intervals, and a beeswarm with a dot a text."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pellucid.base.checks import at_least
from pellucid.base.errors import BadInput
from pellucid.base.kinds import renderers
from pellucid.drawing.canvas import (
    SMALL,
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
from pellucid.drawing.emphasis import clear, full_colour
from pellucid.drawing.heat_map import drawable_view, units_in_order, unread_places
from pellucid.drawing.html import plain
from pellucid.drawing.method_facts import readable
from pellucid.results.class_words import ClassWords, WordScore, distinct_texts, explained_class
from pellucid.results.explanation import Explanation
from pellucid.results.results import Results
from pellucid.results.table import Cell, Table
from pellucid.results.word_lists import word_form

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BAR_ROW = 0.19  # inches a word
COLUMNS = 3  # panels beside each other
LEFT_OUT, ITALIC = "Function words are left out.", "Italic: function words."
OPACITY = 0.75  # of bars
REACH = 1.25  # of the largest mean: where the axis ends, whatever the intervals do
NOTHING_SURE = "Nothing sure:\nevery interval holds 0."


@renderers.add(
    draws="class words",
    figure="words",
    figure_of=("pellucid.results.class_words.ClassWords", "pellucid.results.results.Results"),
)
def words_figure(
    words: ClassWords,
    *,
    theme: ThemeName = "light",
    width: float = 6.3,
    top: int = 6,
    function_words: bool = False,
) -> "Figure":
    """One panel a class: the words that speak most surely for it, then those against it.

    top: at most so many words for each class and sign, of those whose interval leaves 0 out. function_words: whether
    function words and punctuation are drawn among the others, in italics; they are often the surest and say least to a
    reader. Bars are mean scores, lines 95 % intervals over texts; a line that goes on beyond the axis ends in an arrow.
    In brackets the number of texts. Raises `BadInput` where no word is counted.
    """
    at_least("top", top, 1)
    if not words.words:
        raise BadInput(
            f"There is no word to draw: none occurs in {words.min_texts} texts or more; give more texts, or a lower "
            f"min_texts."
        )
    by_label = {label: words.only(label) for label in words.labels}
    if not function_words:
        by_label = {label: of_label.content() for label, of_label in by_label.items()}
    shown = {label: words_shown(of_label, label, top) for label, of_label in by_label.items()}
    n_drawn = sum(len(of_label.words) for of_label in by_label.values())
    colours, n_rows = palette(theme), grid(len(shown), COLUMNS)[0]
    height = BAR_ROW * max(map(len, shown.values())) * n_rows + 0.55 * n_rows + 0.35
    figure = empty_figure(width, height, colours)
    axes = panels(figure, len(shown), COLUMNS, colours)
    for panel, (label, of_label) in zip(axes, shown.items(), strict=True):
        _bars(panel, of_label, colours)
        title_of_class(panel, label)
    notes = [
        f"Mean score of a word by {readable(words.method)}, with its 95 % interval; in brackets the number of texts. "
        "Orange speaks for the class, blue against it. Words whose interval holds 0 are left out. "
        + (LEFT_OUT if n_drawn < len(words.words) else ITALIC)
    ]
    footnotes(figure, notes, colours)
    return figure


def words_shown(words: ClassWords, label: str, top: int) -> list[WordScore]:
    """The strongest sure words for a class, then those against it, the strongest last."""
    sure = replace(words, words=tuple(word for word in words.words if word.is_sure))
    against = sure.strongest(label, top, "against")
    return [*sure.strongest(label, top, "for"), *reversed(against)]


def _bars(panel: "Axes", words: list[WordScore], colours: Palette) -> None:
    from matplotlib.colors import to_rgba

    places = range(len(words))
    means = [word.mean for word in words]
    panel.barh(places, means, color=[to_rgba(colours.sign(mean), OPACITY) for mean in means], height=0.7)
    if not words:
        panel.set_axis_off()
        note = panel.text(0, 0.95, NOTHING_SURE, color=colours.muted, fontsize=SMALL, va="top")
        note.set_transform(panel.transAxes)
        note.set_in_layout(False)
        return
    reach = REACH * max(map(abs, means))
    left, right = (-reach if min(means) < 0 else -reach / 4), (reach if max(means) > 0 else reach / 4)
    panel.set_xlim(left, right)
    for place, word in zip(places, words, strict=True):
        low, high = max(word.low, left), min(word.high, right)
        panel.plot([low, high], [place, place], color=colours.ink, linewidth=0.9)
        for is_cut, end, arrow in ((word.low < left, low, "<"), (word.high > right, high, ">")):
            if is_cut:
                panel.plot([end], [place], arrow, color=colours.ink, markersize=2.5, clip_on=False)
    panel.axvline(0, color=colours.muted, linewidth=0.6)
    stop_words = {place for place, word in zip(places, words, strict=True) if word.is_stop_word}
    rows_of_words(panel, [f"{word.word} ({word.n_texts})" for word in words], italic=stop_words)
    panel.set_ylim(len(words) - 0.4, -0.6)


# LaTeX: tables in booktabs' style, and a text with its words on the colours of their scores.

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "\n": r"\\ ",
}
ARROWS = {"higher": r"$\uparrow$", "lower": r"$\downarrow$"}


def escaped(text: str) -> str:
    """A text in which LaTeX reads every character as itself."""
    return "".join(SPECIAL.get(character, character) for character in text)


@renderers.add(draws="table", latex_of=("pellucid.results.table.Table",))
def latex_table(table: Table) -> str:
    """Methods x metrics with 95 % intervals; bold: better than random scores at 5 % for the table. Needs the package
    booktabs.
    """
    better = {cell.metric: ARROWS.get(cell.better, "") for cell in table.cells}
    header = ["", *(f"{escaped(readable(metric))} {better[metric]}" for metric in table.metrics)]
    cells = {(cell.method, cell.metric): cell for cell in (*table.cells, *table.ceiling)}
    rows = (
        [escaped(readable(method)), *(_number(cells.get((method, metric))) for metric in table.metrics)]
        for method in (*table.methods, *dict.fromkeys(cell.method for cell in table.ceiling))
    )
    return _tabular("l" + "c" * len(table.metrics), header, rows)


@renderers.add(draws="class words", latex_of=("pellucid.results.class_words.ClassWords",))
def latex_class_words(words: ClassWords, *, top: int = 10) -> str:
    """The words of each class with mean scores, intervals and numbers of texts. Needs the package booktabs."""
    header = ["class", "word", "mean", r"95\,\% interval", "texts"]
    rows = []
    for label in words.labels:
        for index, word in enumerate(words_shown(words, label, top)):
            form = escaped(plain(word.word))
            interval = f"[{_three(word.low)}, {_three(word.high)}]" if word.low == word.low else "--"
            italic = rf"\textit{{{form}}}" if word.is_stop_word else form
            first = escaped(plain(label)) if index == 0 else ""
            rows.append([first, italic, _three(word.mean), interval, str(word.n_texts)])
    return _tabular("llrcr", header, rows)


@renderers.add(draws="explanation", latex_of=("pellucid.results.explanation.Explanation",))
def latex_text(explanation: Explanation) -> str:
    r"""A text whose words stand on the colours of their scores, the strongest underlined; [?] stands before words that
    the model cannot read. Needs the package xcolor.
    """
    view, colours = drawable_view(explanation), palette("light")
    scale = full_colour(view)
    unread = unread_places(view)
    emphasised = {(unit.segment, unit.start) for unit in clear(view)} - unread
    parts, before = [], None
    for unit in units_in_order(view):
        text = view.example.segments[unit.segment]
        if before is not None and unit.segment != before.segment:
            parts.append("\\par\n")
        elif before is not None and (gap := text[before.end : unit.start]):
            parts.append("\\par\n" if "\n\n" in gap else " ")
        word = escaped(plain(unit.text))
        word = rf"\underline{{{word}}}" if (unit.segment, unit.start) in emphasised else word
        word = f"[?]{word}" if (unit.segment, unit.start) in unread else word
        shade = colours.shade(unit.score, scale).removeprefix("#").upper()
        parts.append(word if shade == "FFFFFF" else rf"\colorbox[HTML]{{{shade}}}{{\strut {word}}}")
        before = unit
    return rf"{{\setlength{{\fboxsep}}{{1pt}}{''.join(parts)}}}" + "\n"


def _number(cell: Cell | None) -> str:
    if cell is None:
        return "--"
    value = cell.value
    mean = _three(value.mean)
    mean = rf"\textbf{{{mean}}}" if cell.verdict == "better than chance" else mean
    return f"{mean} [{_three(value.low)}, {_three(value.high)}]" if value.low == value.low else mean


def _three(value: float) -> str:
    return f"${value:.3f}$" if value == value else "--"


def _tabular(columns: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", " & ".join(header) + r" \\", r"\midrule"]
    lines += [" & ".join(row) + r" \\" for row in rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


# The scores of a corpus as a beeswarm: a row a word, a dot a text.

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SWARM_ROW, BINS = 0.24, 60
Dot = tuple[float, bool]  # a word's mean score in a text; whether the model was wrong about it


@renderers.add(
    draws="results",
    figure="scores",
    figure_of=("pellucid.results.results.Results",),
    first_of=("pellucid.results.results.Results",),
)
def swarm_figure(results: Results, *, theme: ThemeName = "light", width: float = 6.3, top: int = 12) -> "Figure":
    """One panel a class, a row for each of its strongest words, and a dot for each text that contains the word.

    top: at most so many words a class, those whose interval is farthest from zero, for it or against it. Dots of texts
    that the model got wrong are hollow. Raises `BadInput` where no interval leaves zero out, `BadSetting` where methods
    are mixed.
    """
    at_least("top", top, 1)
    words = results.words()
    dots = dots_by_word(results)
    shown = {label: surest_words(words, label, top) for label in words.labels}
    shown = {label: of_label for label, of_label in shown.items() if of_label}
    if not shown:
        raise BadInput(
            f"There is no word to draw: none that occurs in {words.min_texts} texts or more has an interval without "
            f"zero; give more texts."
        )
    colours = palette(theme)
    heights = [SWARM_ROW * len(of_label) + 0.5 for of_label in shown.values()]
    figure = empty_figure(width, sum(heights) + 0.35, colours)
    axes = panels(figure, len(shown), 1, colours, heights)
    for panel, (label, of_label) in zip(axes, shown.items(), strict=True):
        _rows(panel, of_label, [dots[label, word] for word in of_label], colours)
        title_of_class(panel, label)
    notes = [f"A dot is a text: the word's mean score in it by {readable(words.method)}. Hollow: the answer was wrong."]
    footnotes(figure, notes, colours)
    return figure


def dots_by_word(results: Results) -> dict[tuple[str, str], list[Dot]]:
    """(class, word) -> a dot for each different text in which the class is explained and the word occurs."""
    dots: dict[tuple[str, str], list[Dot]] = defaultdict(list)
    for distinct_text in distinct_texts(results.explanations):
        scores: dict[str, list[float]] = defaultdict(list)
        for word, score in distinct_text.shown_row().as_iterated().above_rounding():
            scores[word_form(word)].append(score)
        for form, of_form in scores.items():
            dots[explained_class(distinct_text), form].append(
                (float(np.mean(of_form)), distinct_text.is_correct is False)
            )
    return dots


def surest_words(words: ClassWords, label: str, top: int) -> list[str]:
    """The words of a class whose intervals leave zero out, the ones farthest from it, from those most for it to those
    most against it.
    """
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
    """[text]: how far each dot is moved from the middle of its row, -1 to 1, so that equal scores stand beside each
    other.
    """
    bins = np.round(scores / largest * BINS).astype(int)
    offsets = np.zeros(len(scores))
    for bin_ in np.unique(bins):
        members = np.flatnonzero(bins == bin_)
        order = np.arange(len(members))
        offsets[members] = (order + 1) // 2 * np.where(order % 2, 1, -1)
    most = max(np.abs(offsets).max(initial=0), 4)
    return offsets / most
