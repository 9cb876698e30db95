"""Many texts in a terminal: a few whole; more as a summary and a table of twenty lines."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from pellucid.base.checks import in_syntax
from pellucid.base.errors import failures_in_words
from pellucid.base.kinds import renderers
from pellucid.drawing.emphasis import clear
from pellucid.drawing.heat_map import drawable_view
from pellucid.drawing.html import plain
from pellucid.drawing.method_facts import facts_of, readable
from pellucid.drawing.page import page_scales
from pellucid.drawing.span_view import clear_spans
from pellucid.drawing.terminal import INDENT, Line, caution_lines, line, printed
from pellucid.drawing.wording import (
    MINUS,
    answer_name,
    first_names,
    percent,
    readable_number,
    short_ids,
    signed,
    sureness,
)
from pellucid.explaining.views.shortcuts import shortcut_lines
from pellucid.results.class_words import ClassWords, Sign
from pellucid.results.explanation import Explanation
from pellucid.results.results import Results
from pellucid.results.shortcuts import Shortcuts
from pellucid.results.summary import Summary, one_a_text
from pellucid.text.units import Spans

WHOLE = 5  # texts that are drawn whole
LONGEST_ID = 14  # characters
ROWS = 18  # with the header and the last line, twenty
STRONGEST = 3
MARKS = {True: "✓", False: "✗", None: ""}


@renderers.add(draws="results")
def terminal_results(
    results: Results,
    *,
    full: bool = False,
    hint: str | None = None,
    shortcuts: Shortcuts | None = None,
    colour: bool | None = None,
    width: int | None = None,
) -> str:
    """Up to five texts whole; of more a summary, then a table: the surest mistakes, the surest right answers and the
    least sure ones.

    full: every text whole. hint: how to see more; None: the usual way. shortcuts: what stands first. colour: None asks
    whether the standard output is a terminal. width: None takes the terminal's.
    """
    texts = one_a_text(results)
    hint = in_syntax("print(results[0]) shows one whole", "--full prints every text whole") if hint is None else hint
    first = (
        f"{printed(shortcut_lines(shortcuts), colour, width)}\n" if shortcuts is not None and shortcuts.n_texts else ""
    )
    if full or len(texts) <= WHOLE:
        whole, scales = renderers.get("terminal_text").make, page_scales(results)
        drawn = [whole(result, colour=colour, width=width, scales=scales) for result in results]
        return first + "\n".join([*drawn, *_failed(results, colour, width)])
    summary = terminal_summary(results.summary(), colour=colour, width=width)
    table: list[Line | Grid] = [_grid(telling(texts, ROWS)), line(_last_line(results, len(texts), hint))]
    return "\n".join([f"{first}{summary}", printed(table, colour, width), *_failed(results, colour, width)])


def _failed(results: Sequence[Explanation], colour: bool | None, width: int | None) -> list[str]:
    failures = failures_in_words(results.failures if isinstance(results, Results) else ())
    return [printed([line(failures)], colour, width)] if failures else []


def telling(texts: Sequence[Explanation], most: int) -> list[Explanation]:
    """At most so many texts: mistakes, the surest first; then the surest others; then the least sure, to the last.

    Each of the three gets a third of the rows, and what one leaves free goes to the next.
    """
    wrong = sorted((text for text in texts if text.is_correct is False), key=sureness, reverse=True)
    others = sorted((text for text in texts if text.is_correct is not False), key=sureness, reverse=True)
    n_wrong = min(len(wrong), max(most // 3, most - len(others)))
    rest = min(len(others), most - n_wrong)
    sure, unsure = others[: rest - rest // 2], others[len(others) - rest // 2 :]
    return [*wrong[:n_wrong], *sure, *unsure]


def _grid(texts: Sequence[Explanation]) -> Grid:
    """One line a text; columns that no text has anything for are left out."""
    labelled = any(text.example.label is not None for text in texts)
    sure = any(
        explanation.prediction.probabilities and not explanation.prediction.gives_several for explanation in texts
    )
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold", expand=True)
    grid.add_column("id", max_width=LONGEST_ID, no_wrap=True)
    for title in (["", "label"] if labelled else []) + ["predicted"]:
        grid.add_column(title, max_width=14, no_wrap=True)
    if sure:
        grid.add_column("sure", justify="right", no_wrap=True)
    grid.add_column("strongest words", ratio=2, no_wrap=True)
    grid.add_column("beginning", ratio=3, no_wrap=True)
    ids = short_ids([explanation.example.id for explanation in texts], LONGEST_ID)
    for explanation in texts:
        verdict = [MARKS[explanation.is_correct], explanation.example.label or ""] if labelled else []
        chance = [percent(explanation.prediction.probability)] if sure else []
        cells = [
            ids[explanation.example.id],
            *verdict,
            answer_name(explanation),
            *chance,
            _strongest(explanation),
            explanation.example.text,
        ]
        grid.add_row(*(_cell(cell) for cell in cells))
    return grid


def _cell(text: str) -> Text:
    return line(" ".join(text.split()))


def _strongest(explanation: Explanation) -> str:
    """The clearest words with their signs; of spans the heaviest one."""
    row = explanation.shown_row()
    if row.is_unread:
        return "(none can be read)"
    if isinstance(row.units, Spans):
        return "; ".join(span.text for span in clear_spans(row, 1))
    words = clear(drawable_view(row), STRONGEST)
    if not facts_of(explanation.method, [explanation]).signed:
        return ", ".join(word.text for word in words)
    return " ".join(f"{'+' if word.score > 0 else MINUS}{word.text}" for word in words)


def _last_line(results: Results, n_texts: int, hint: str) -> str:
    """How many texts are not shown, and how to see more."""
    method = f"words by {readable(results.methods[0])}" if len(results.methods) > 1 else ""
    more = f"{n_texts - ROWS:,} more texts" if n_texts > ROWS else ""
    return "; ".join(filter(None, (more, method, hint)))


# The summary of many texts in a terminal, in twenty lines at most.

MOST_LINES = 20
MOST_CLASSES = (
    4  # of more, the confusion is a list of the most frequent mistakes, and words are those of the first classes
)
MOST_WORDS = 8
MOST_NAMED = 6
NAME = 16  # the widest name of a class, in characters


@renderers.add(draws="summary")
def terminal_summary(summary: Summary, *, colour: bool | None = None, width: int | None = None) -> str:
    """How many texts, answers, mistakes, the strongest words of each class, and as many cautions as there is room for.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    width = width or Console().width
    lines: list[Line | Grid] = [line(_work(summary)), *_answers(summary), *_word_lines(summary, width)]
    text = printed(lines, colour, width)
    cautions = sorted(summary.cautions.items(), key=lambda pair: -len(pair[1]))
    for shown, (caution, ids) in enumerate(cautions):
        texts = ": ".join(filter(None, (_texts(len(ids)), first_names(ids))))
        printed_line = printed(caution_lines([f"{caution} ({texts})"]), colour, width)
        rest = len(cautions) - shown - 1
        if len((text + printed_line).splitlines()) + bool(rest) > MOST_LINES:
            where = in_syntax("see .summary().cautions", "--html writes them all")
            many = f"{rest + 1} more caution{'s' if rest else ''}: {where}"
            return text + printed([line(many)], colour, width)
        text += printed_line
    return text


def _work(summary: Summary) -> str:
    """How many texts, by which method and model, in which time."""
    different = f", {summary.n_distinct:,} different" if summary.n_distinct < summary.n_texts else ""
    methods = ", ".join(map(readable, summary.methods)) or "no method"
    seconds = "" if summary.seconds is None else f" in {_seconds(summary.seconds)}"
    model = f" · model: {summary.model}" if summary.model else ""
    return f"{_texts(summary.n_texts)}{different} · {methods}{seconds}{model}"


def _seconds(seconds: float) -> str:
    return f"{seconds:,.0f} seconds" if seconds >= 10 else f"{readable_number(seconds)} seconds"


def _answers(summary: Summary) -> Iterator[Line | Grid]:
    """Predicted classes, accuracy, confusion, labels that fit no class."""
    if summary.values is not None:
        lowest, middle, highest = map(readable_number, summary.values)
        yield line(f"Values: {lowest} to {highest}, {middle} in the mean")
        return
    counts = sorted(summary.predicted.items(), key=lambda pair: -pair[1])
    shown = [f"{label} {count:,}" for label, count in counts if count]
    yield line(f"Predicted: {', '.join(shown[:MOST_NAMED])}{', …' if len(shown) > MOST_NAMED else ''}")
    if summary.accuracy is not None:
        interval = f"{percent(summary.accuracy.low)} to {percent(summary.accuracy.high)}"
        right = sum(count for (label, predicted), count in summary.confusion.items() if label == predicted)
        share = f"{percent(summary.accuracy.mean)}; 95 % interval {interval}"
        yield line(f"Right: {right:,} of {summary.n_labelled:,} labelled texts ({share})")
        yield from _confusion(summary)
    if summary.unmatched_labels:
        labels = ", ".join(f"{label} ({count:,})" for label, count in list(summary.unmatched_labels.items())[:5])
        yield line(f"Labels that are no class of the model, so not counted: {labels}")


def _confusion(summary: Summary) -> Iterator[Line | Grid]:
    """A grid, label by prediction; of many classes, the most frequent mistakes."""
    labels = list(summary.predicted)
    wrong = {pair: count for pair, count in summary.confusion.items() if pair[0] != pair[1]}
    if len(labels) > MOST_CLASSES and wrong:
        often = sorted(wrong.items(), key=lambda pair: -pair[1])[:3]
        mistakes = (f"{label} read as {predicted} ({count:,})" for (label, predicted), count in often)
        yield line(f"Most frequent mistakes: {', '.join(mistakes)}")
    elif wrong:
        grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False)
        grid.add_column(line("label \\ predicted"), max_width=NAME + 2, no_wrap=True)
        for label in labels:
            grid.add_column(line(label), justify="right", max_width=NAME, no_wrap=True)
        for label in labels:
            grid.add_row(line(label), *(f"{summary.confusion.get((label, predicted), 0):,}" for predicted in labels))
        yield grid


def _word_lines(summary: Summary, width: int) -> Iterator[Line]:
    """The strongest words for and against each class, in lines that fit."""
    words = summary.words
    if words is None:
        yield line("Words: choose a method with .where(method=…), then .words()")
        return
    if not words.words:
        yield line(f"Words: none is in {words.min_texts} texts or more; see .words(min_texts=1)")
        return
    yield line("Words whose 95 % interval leaves 0 out, without function words, the surest first (mean score):")
    often = sorted(words.labels, key=lambda label: -summary.predicted.get(label, 0))
    for label in often[:MOST_CLASSES]:
        for sign in _signs(words, label):
            yield _words_of(words, label, sign, width)
    if len(often) > MOST_CLASSES:
        yield line(f"and {len(often) - MOST_CLASSES} more classes: see .words()")


def _signs(words: ClassWords, label: str) -> Sequence[Sign]:
    """Both signs, or of scores without a sign the first one."""
    return ("for", "against") if any(word.mean < 0 for word in words.words if word.label == label) else ("for",)


def _words_of(words: ClassWords, label: str, sign: Sign, width: int) -> Line:
    """One class's words for it or against it: as many as fit on a line; how many are not sure, where none is."""
    best = [word for word in words.strongest(label, len(words.words), sign) if not word.is_stop_word]
    sure = [word for word in best if word.is_sure]
    head = " " * INDENT + f"{sign} {clipped_name(label)}: "
    shown = ""
    for word in sure[:MOST_WORDS]:
        brief = f"{word.word} {signed(word.mean)}"
        longer = f"{shown}, {brief}" if shown else brief
        if cell_len(plain(head + longer)) > width:
            break
        shown = longer
    unsure = f"nothing sure ({len(best)} word{'' if len(best) == 1 else 's'})" if best else "none"
    return line(head + (shown or unsure))


def clipped_name(label: str) -> str:
    """The name of a class, shortened where it is very long."""
    return label if len(label) <= NAME * 2 else label[: NAME * 2 - 1] + "…"


def _texts(count: int) -> str:
    return f"{count:,} text{'' if count == 1 else 's'}"
