"""Many texts in a terminal: a few whole; more as a summary and a table of twenty lines."""

from collections.abc import Sequence

from rich.table import Table as Grid
from rich.text import Text

from pellucid.core.corpus.results import Results
from pellucid.core.corpus.summary import one_a_text
from pellucid.core.foundation.kinds import renderers
from pellucid.core.foundation.wording import in_syntax
from pellucid.core.results.explanation import Explanation
from pellucid.core.text.units import Spans
from pellucid.reports.page.heat_map import drawable_view
from pellucid.reports.page.span_view import clear_spans
from pellucid.reports.terminal.rich_text import Line, line, printed
from pellucid.reports.terminal.summary import terminal_summary
from pellucid.reports.wording.answers import answer_name
from pellucid.reports.wording.method_facts import facts_of, readable
from pellucid.reports.wording.numbers import MINUS, percent
from pellucid.reports.wording.plain_words import clear

WHOLE = 5  # texts that are drawn whole
ROWS = 18  # with the header and the last line, twenty
STRONGEST = 3
MARKS = {True: "✓", False: "✗", None: ""}


@renderers.add(draws="results")
def terminal_results(
    results: Results,
    *,
    full: bool = False,
    hint: str | None = None,
    colour: bool | None = None,
    width: int | None = None,
) -> str:
    """Up to five texts whole; of more a summary, then a table: mistakes first, the surest ones on top, then the least sure.

    full: every text whole. hint: how to see more; None: the usual way. colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    texts = one_a_text(results)
    hint = (
        in_syntax("print(results[0]) shows one whole", "--full prints every text whole")
        if hint is None
        else hint
    )
    if full or len(texts) <= WHOLE:
        whole = renderers.get("terminal_text").make
        return "\n".join(whole(one, colour=colour, width=width) for one in results)
    summary = terminal_summary(results.summary(), colour=colour, width=width)
    table: list[Line | Grid] = [_grid(worst_first(texts)[:ROWS]), line(_last_line(results, len(texts), hint))]
    return f"{summary}\n{printed(table, colour, width)}"


def worst_first(texts: Sequence[Explanation]) -> list[Explanation]:
    """Mistakes from the surest to the least sure, then all others from the least sure to the surest."""
    return sorted(texts, key=_order)


def _order(one: Explanation) -> tuple[bool, float]:
    wrong, probability = one.is_correct is False, one.prediction.probability
    if probability != probability:
        return not wrong, 0.0
    return not wrong, -probability if wrong else probability


def _grid(texts: Sequence[Explanation]) -> Grid:
    """One line a text; columns that no text has anything for are left out."""
    labelled = any(one.example.label is not None for one in texts)
    sure = any(one.prediction.probabilities and not one.prediction.gives_several for one in texts)
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold", expand=True)
    grid.add_column("id", max_width=14, no_wrap=True)
    for title in (["", "label"] if labelled else []) + ["predicted"]:
        grid.add_column(title, max_width=14, no_wrap=True)
    if sure:
        grid.add_column("sure", justify="right", no_wrap=True)
    grid.add_column("strongest words", ratio=2, no_wrap=True)
    grid.add_column("beginning", ratio=3, no_wrap=True)
    for one in texts:
        verdict = [MARKS[one.is_correct], one.example.label or ""] if labelled else []
        chance = [percent(one.prediction.probability)] if sure else []
        cells = [one.example.id, *verdict, answer_name(one), *chance, _strongest(one), one.example.text]
        grid.add_row(*(_cell(cell) for cell in cells))
    return grid


def _cell(text: str) -> Text:
    return line(" ".join(text.split()))


def _strongest(explanation: Explanation) -> str:
    """The clearest words with their signs; of spans the heaviest one."""
    row = explanation.shown_row()
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
