"""The words of classes on a page, with clouds and overlaps, and in a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from rich.table import Table as Grid
from rich.text import Text

from pellucid.base.kinds import renderers
from pellucid.drawing.curve_plot import Frame, LineStyle, axes, drawn, round_ticks, sample_of
from pellucid.drawing.html import Markup, element, fragment, header_row, name, scroll_box, table
from pellucid.drawing.method_facts import readable
from pellucid.drawing.page import Opening, Section, written_on
from pellucid.drawing.reading_guide import words_guide
from pellucid.drawing.terminal import Line, caution_lines, line, printed
from pellucid.drawing.wording import overlap_in_words, readable_number, signed
from pellucid.explaining.views.class_words import class_words_sections
from pellucid.explaining.views.opening import texts_in_words
from pellucid.results.class_words import ClassWords, Sign, WordScore
from pellucid.results.word_lists import MOST, SUMS, OverlapCurve, Sums, WordLists, WordSum
from pellucid.words.columns import class_columns

OPEN_CLASSES = 6
WORDS = (
    "Here a word’s scores are added up over the texts of a class, so a word counts that is strong and frequent; the "
    "sum is multiplied by how rare the word is in {n:,} other texts: idf = ln((1 + N) / (1 + df)) + 1, where df of N "
    "texts have it. On the left the scores are added up as they are, so texts with large scores count most; beside "
    "them each text’s scores are divided by the sum of their sizes, so every text counts alike. {unit}"
)
UNITS = {
    "word": "Counted are words by their form, without regard to capitals.",
    "piece": "Counted are the tokens as the text spells them; the means above are of words.",
}
OVERLAP = (
    "Words that a model goes by for one class should not stand in the list of another. But that lists share few words "
    "proves little by itself: lists of the rarest words share none either, as each occurs in one class. So compare the "
    "lines with the controls: random words of the same classes, and the rarest words first."
)
TABLE = "The words that two classes both have among their {k} highest."


@renderers.add(draws="words of classes", sections_of=("pellucid.results.class_words.ClassWords",))
def page_sections_of_words(words: ClassWords) -> tuple[list[Section], Markup, Opening]:
    """The words of each class as bars, then their weighted sums where they were counted; how to read them; facts."""
    lists = word_lists_sections(words.lists, words.labels) if words.lists else []
    facts = (
        f"Model {words.model}",
        texts_in_words(words.n_texts, words.data),
        f"Explained by {readable(words.method)}",
        written_on(),
    )
    return [*class_words_sections(words), *lists], words_guide(), Opening(facts)


def word_lists_sections(lists: WordLists, labels: Sequence[str]) -> list[Section]:
    """The words of these classes, and the overlap of all."""
    intro = WORDS.format(n=lists.n_idf_texts, unit=UNITS[lists.unit])
    sections = [Section("Sums of scores, weighted by rarity", intro, _classes(lists, labels))]
    if len(lists.labels) > 1:
        sections.append(Section("Words that classes share", OVERLAP, _overlap(lists)))
    return sections


def _classes(lists: WordLists, labels: Sequence[str]) -> Markup:
    cards = [class_columns(lists, label) for label in labels]
    more = cards[OPEN_CLASSES:]
    folded = element("details", element("summary", f"{len(more)} more classes"), *more) if more else None
    return fragment(*cards[:OPEN_CLASSES], folded)


def _overlap(lists: WordLists) -> Markup:
    curves: dict[Sums, OverlapCurve] = {sums: lists.overlap_curve(sums) for sums in SUMS}
    plot = overlap_plot(curves)
    body = (
        element(
            "div",
            plot,
            element("div", *map(_sentence, overlap_in_words(lists, curves["raw"]))),
            class_="pl-plots",
        )
        if plot
        else element("p", "The lists are too short to be compared.", class_="pl-note")
    )
    heading = element("h3", TABLE.format(k=MOST), class_="pl-heading")
    return fragment(body, heading, shared_words_table(lists))


def _sentence(text: str) -> Markup:
    return element("p", text, class_="pl-overlap-words")


# Which words pairs of classes share among their first: a table with a row a pair.

MOST_PAIRS = 45  # rows; ten classes have so many pairs


def shared_words_table(lists: WordLists, k: int = MOST) -> Markup:
    """The pairs that share most first; for each list of the first k words by raw and by normalised sums."""
    counted = sorted(
        ((a, b, lists.shared(a, b, k), lists.shared(a, b, k, "normalised")) for a, b in lists.pairs()),
        key=lambda row: -len(row[2]),
    )
    rows = (_row(a, b, *words) for a, b, *words in counted[:MOST_PAIRS])
    head = header_row(("classes", "shared by added scores", "shared by added shares"))
    more = len(counted) - MOST_PAIRS
    note = element("p", f"{more:,} more pairs share fewer words.", class_="pl-note") if more > 0 else None
    return fragment(scroll_box(table(head, rows, "pl-table pl-shared-words"), "Words that classes share"), note)


def _row(first: str, second: str, raw: tuple[str, ...], normalised: tuple[str, ...]) -> Markup:
    pair = element("th", name(first), " and ", name(second), scope="row")
    return element("tr", pair, _words(raw), _words(normalised))


def _words(words: tuple[str, ...]) -> Markup:
    listed = (part for word in words for part in (name(word), " · "))
    return element("td", element("span", f"{len(words)}", class_="pl-value"), element("small", *list(listed)[:-1]))


# How many words the classes' lists share, against the length of the lists, beside random and rarest-first lists.

STYLES: dict[str, LineStyle] = {
    "raw": LineStyle("pl-c1 pl-d1", None),
    "normalised": LineStyle("pl-c2 pl-d2", None),
    "rarest": LineStyle("pl-c3 pl-d3", None),
    "random": LineStyle("pl-chance", None),
}
NAMES = {
    "raw": "scores added up × idf",
    "normalised": "shares added up × idf",
    "rarest": "rarest words of each class",
    "random": "random words of each class, 95 % of draws",
}


def overlap_plot(curves: Mapping[Sums, OverlapCurve]) -> Markup | None:
    """The curves of both sums in one plot; the controls are those of the longest curve. None where there is none."""
    longest = max(curves.values(), key=lambda curve: len(curve.k))
    if len(longest.k) < 2:
        return None
    lines: dict[str, Sequence[float]] = {sums: curve.lists for sums, curve in curves.items() if len(curve.k) > 1}
    lines |= {"rarest": longest.rarest, "random": longest.random_mean}
    frame = _frame(len(longest.k), max(max(longest.random_high), *(max(line) for line in lines.values())))
    both = axes(frame, "words of each list, k", "% shared by pairs of classes")
    drawings = (_line(values, frame, STYLES[key], NAMES[key]) for key, values in reversed(lines.items()))
    drawing = drawn(both, [_band(longest, frame)], drawings, spoken=_spoken(lines))
    keys = (element("li", sample_of(STYLES[key]), name(NAMES[key])) for key in lines)
    return element("figure", drawing, element("ul", *keys, class_="pl-lines"), class_="pl-figure")


def _frame(most: int, highest: float) -> Frame:
    """From 0 to the highest share, as percent, at least 5."""
    return Frame((1.0, float(most)), (0.0, round_ticks(0.0, max(100 * highest, 5.0))[-1]))


def _points(values: Sequence[float], frame: Frame) -> str:
    return frame.points(range(1, len(values) + 1), (100 * value for value in values))


def _line(values: Sequence[float], frame: Frame, style: LineStyle, title: str) -> Markup:
    line = element("polyline", points=_points(values, frame), class_="pl-line")
    return element("g", element("title", title), line, class_=style.css_classes)


def _band(curve: OverlapCurve, frame: Frame) -> Markup:
    there = _points(curve.random_high, frame)
    back = " ".join(reversed(_points(curve.random_low, frame).split()))
    return element("polygon", points=f"{there} {back}", class_="pl-band pl-chance")


def _spoken(lines: Mapping[str, Sequence[float]]) -> str:
    ends = ", ".join(f"{NAMES[key]} {100 * values[-1]:.1f} %" for key, values in lines.items())
    return f"Line plot of the words that pairs of classes share, at the longest lists: {ends}"


# The words of classes in a terminal: for each class a table of the words for it, and one of those against it.

STOP_WORD = "*"
SIGNS = get_args(Sign)


@renderers.add(draws="class words")
def terminal_class_words(
    words: ClassWords, *, top: int = 15, colour: bool | None = None, width: int | None = None
) -> str:
    """The strongest words for and against each class: mean score, 95 % interval, occurrences, texts.

    top: words of a class and sign. colour: None asks whether the standard output is a terminal. width: None takes the
    terminal's.
    """
    lines: list[Line | Grid] = [line(f"Words by {readable(words.method)}")] if words.method else []
    for label in words.labels:
        for sign in SIGNS:
            lines += _part(label, sign, words.strongest(label, top, sign))
    lines += [] if words.lists is None else _lists(words.lists, words.labels, top)
    return printed([*lines, *_notes(words)], colour, width)


def _lists(lists: WordLists, labels: Sequence[str], top: int) -> list[Line | Grid]:
    """The words with the highest sums times idf, and how far the classes' lists overlap."""
    parts: list[Line | Grid] = []
    for label in labels:
        if best := lists.top(label, top):
            parts += [Text(""), line(f"{label}: scores added up × idf", style="bold"), _sums(best)]
    sentences = overlap_in_words(lists, lists.overlap_curve()) if len(lists.labels) > 1 else []
    return [*parts, Text(""), *map(line, sentences)] if sentences else parts


def _sums(best: Sequence[WordSum]) -> Grid:
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    grid.add_column("word", max_width=30, no_wrap=True)
    for title in ("score", "of shares", "idf", "times", "texts"):
        grid.add_column(title, justify="right", no_wrap=True)
    for word in best:
        mark = f" {STOP_WORD}" if word.is_stop_word else ""
        scores = readable_number(word.score()), readable_number(word.score("normalised"))
        grid.add_row(line(word.word + mark), *scores, f"{word.idf:.1f}", f"{word.count:,}", f"{word.n_texts:,}")
    return grid


def _part(label: str, sign: Sign, best: Sequence[WordScore]) -> list[Line | Grid]:
    """The words for a class, or against it."""
    return [Text(""), line(f"{sign} {label}", style="bold"), _grid(best)] if best else []


def _grid(best: Sequence[WordScore]) -> Grid:
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    grid.add_column("word", max_width=30, no_wrap=True)
    for title in ("mean", "95 % interval", "times", "texts"):
        grid.add_column(title, justify="right", no_wrap=True)
    for word in best:
        mark = f" {STOP_WORD}" if word.is_stop_word else ""
        grid.add_row(line(word.word + mark), signed(word.mean), _interval(word), f"{word.count:,}", f"{word.n_texts:,}")
    return grid


def _interval(word: WordScore) -> str:
    return f"{signed(word.low)} to {signed(word.high)}" if word.low == word.low else "–"


def _notes(words: ClassWords) -> Iterator[Line]:
    """What is not shown, what marks mean, and what to keep in mind."""
    yield Text("")
    if any(word.is_stop_word for word in words.words):
        yield line(f"{STOP_WORD} function word or punctuation")
    if words.n_rare:
        yield line(f"Left out: {words.n_rare:,} words of fewer than {words.min_texts} texts.")
    yield from caution_lines(words.caveats)
