"""The words of classes in a terminal: for each class a table of the words for it, and one of those against it."""

from collections.abc import Iterator, Sequence
from typing import get_args

from rich.table import Table as Grid
from rich.text import Text

from pellucid.base.kinds import renderers
from pellucid.reports.terminal.rich_text import Line, caution_lines, line, printed
from pellucid.reports.wording.method_facts import readable
from pellucid.reports.wording.numbers import number, signed
from pellucid.reports.wording.plain_words import overlap_in_words
from pellucid.results.class_words import ClassWords, Sign, WordScore
from pellucid.results.word_lists import WordLists, WordSum

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
        scores = number(word.score()), number(word.score("normalised"))
        grid.add_row(
            line(word.word + mark), *scores, f"{word.idf:.1f}", f"{word.count:,}", f"{word.n_texts:,}"
        )
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
        grid.add_row(
            line(word.word + mark), signed(word.mean), _interval(word), f"{word.count:,}", f"{word.n_texts:,}"
        )
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
