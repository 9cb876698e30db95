"""The difference between two versions in a terminal: what changed over all texts, then the worst of them, a line each."""

from collections.abc import Sequence

from rich.table import Table as Grid
from rich.text import Text

from pellucid.base.kinds import renderers
from pellucid.base.wording import in_syntax
from pellucid.reports.terminal.rich_text import Line, caution_lines, line, printed
from pellucid.reports.versions.wording import (
    answers_in_words,
    change_in_words,
    floor_in_words,
    interval_in_words,
    luck_in_words,
    missing_in_words,
    quoted_words,
    two,
)
from pellucid.reports.wording.method_facts import readable
from pellucid.reports.wording.numbers import percent
from pellucid.results.difference import Difference, DifferenceMeans, DifferenceSummary, TextDifference
from pellucid.results.table import Interval

ROWS = 20
MARKS = {"wrong": "✗", "right": "✓", "changed": "≠", "": ""}


@renderers.add(draws="difference")
def terminal_difference(
    difference: Difference, *, colour: bool | None = None, width: int | None = None
) -> str:
    """The summary, what is to be kept in mind, and a table of the twenty worst texts.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    before, after = difference.models
    lines: list[Line | Grid] = [
        line(f"{readable(difference.method)} · first: {before} · second: {after}", style="bold"),
        *_summary_lines(difference.totals),
        *map(line, missing_in_words(difference)),
        *caution_lines(difference.caveats),
        Text(""),
        _texts(difference.rows[:ROWS]),
    ]
    rest = len(difference) - ROWS
    more = f"{rest:,} more texts; " if rest > 0 else ""
    hint = in_syntax(
        "pellucid.report(difference, path=…) shows them side by side", "--html shows them side by side"
    )
    return printed(
        [*lines, line(f"✗ became wrong, ✓ became right, ≠ changed otherwise. {more}{hint}")], colour, width
    )


@renderers.add(draws="difference summary")
def terminal_difference_summary(
    totals: DifferenceSummary, *, colour: bool | None = None, width: int | None = None
) -> str:
    """What changed over all texts, and the noise floor.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    return printed(_summary_lines(totals), colour, width)


def _summary_lines(totals: DifferenceSummary) -> list[Line | Grid]:
    sentences = (luck_in_words(totals), floor_in_words(totals))
    return [line(answers_in_words(totals)), _means(totals), *(line(one) for one in sentences if one)]


def _means(totals: DifferenceSummary) -> Grid:
    """A line for the second version and each twin: the three means with their intervals."""
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    grid.add_column("first and", max_width=14, no_wrap=True)
    for title in ("answers changed", "rank correlation", f"overlap of {totals.k} words"):
        grid.add_column(title, no_wrap=True)
    grid.add_row(*_mean_cells("the second", totals.means))
    for twin in totals.twins:
        grid.add_row(*_mean_cells(f"twin {twin.name}", twin.means))
    return grid


def _mean_cells(name: str, means: DifferenceMeans) -> list[Text]:
    return [
        line(name),
        line(_with_interval(means.changed, as_percent=True)),
        line(_with_interval(means.tau)),
        line(_with_interval(means.overlap)),
    ]


def _with_interval(interval: Interval, as_percent: bool = False) -> str:
    mean = percent(interval.mean) if as_percent else two(interval.mean)
    ends = interval_in_words(interval, as_percent)
    return f"{mean} ({ends})" if ends else mean


def _texts(rows: Sequence[TextDifference]) -> Grid:
    """One line a text; both versions' words stand side by side."""
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold", expand=True)
    grid.add_column("id", max_width=14, no_wrap=True)
    grid.add_column("", no_wrap=True)
    grid.add_column("answer", max_width=22, no_wrap=True)
    grid.add_column("rank", justify="right", no_wrap=True)
    grid.add_column("overlap", justify="right", no_wrap=True)
    for title in ("words before", "words after"):
        grid.add_column(title, ratio=1, no_wrap=True)
    for row in rows:
        words = (quoted_words(row.words_before), quoted_words(row.words_after))
        cells = [
            row.after.example.id,
            _mark(row),
            change_in_words(row),
            two(row.tau),
            two(row.overlap),
            *words,
        ]
        grid.add_row(*(line(" ".join(cell.split())) for cell in cells))
    return grid


def _mark(row: TextDifference) -> str:
    if row.became_wrong:
        return MARKS["wrong"]
    return MARKS["right"] if row.became_right else MARKS["changed" if row.is_changed else ""]
