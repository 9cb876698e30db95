"""Attempts of attacks in a terminal: a line an attack, then the first fooled texts with their edits."""

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from pellucid.base.kinds import renderers
from pellucid.base.wording import in_syntax
from pellucid.reports.markup.html import plain
from pellucid.reports.page.attacks import COLUMNS, key_of, meaning_of, named, outcome, row_of
from pellucid.reports.terminal.rich_text import Line, indented, line, printed
from pellucid.results.attacks.attempt import Attempt
from pellucid.results.attacks.attempts import Attempts

FIRST_TEXTS = 5
NAME = 15  # characters, as wide as "span_paraphrase"


@renderers.add(draws="attempts")
def terminal_attempts(attempts: Attempts, *, colour: bool | None = None, width: int | None = None) -> str:
    """The summary of each attack, and the first fooled texts; one text alone is shown whatever became of it.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    shown = attempts if len(attempts) == 1 else attempts.successes()
    lines: list[Line | Grid] = [] if len(attempts) == 1 else [_table(attempts), line(key_of(attempts))]
    for attempt in shown[:FIRST_TEXTS]:
        lines += _text_lines(attempt)
    rest = len(shown) - FIRST_TEXTS
    if rest > 0:
        lines.append(
            line(f"{rest:,} more; {in_syntax('pellucid.report(attempts, path=…)', '--html')} shows them.")
        )
    if attempts.successes():
        lines.append(line(meaning_of(attempts)))
    return printed(lines, colour, width or Console().width)


def _table(attempts: Attempts) -> Grid:
    grid = Grid(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    for number, column in enumerate(COLUMNS):
        grid.add_column(Text(column), overflow="fold", min_width=None if number else NAME)
    for summary in attempts.table():
        grid.add_row(*(Text(plain(cell)) for cell in row_of(summary)))
    return grid


def _text_lines(attempt: Attempt) -> list[Line]:
    """The outcome, and both texts with the edits in brackets."""
    title = f"{attempt.example.id or 'Text'} · {named(attempt.attack, attempt.goal)}: {outcome(attempt)}"
    edits = [f"“{one.before}” → “{one.after}”" for one in attempt.edits]
    texts = [" ⫽ ".join(attempt.example.segments), " ⫽ ".join(attempt.segments)]
    return [
        Text(""),
        line(title, style="bold"),
        *indented([*texts, "; ".join(edits)] if edits else texts[:1]),
    ]
