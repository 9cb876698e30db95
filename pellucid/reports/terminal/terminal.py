"""Explanations and tables for a terminal, drawn by rich; plain text where the output is not a terminal."""

import sys
from io import StringIO

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from pellucid.core.foundation.kinds import renderers
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.table import Cell, Table
from pellucid.core.text.units import Kind, Spans
from pellucid.reports.markup.colours import LEVELS, largest, level
from pellucid.reports.markup.escape import plain
from pellucid.reports.page.heat_map import drawn, units_in_order
from pellucid.reports.page.span_view import clear_spans
from pellucid.reports.page.table_view import DIRECTIONS, VERDICTS, is_chance
from pellucid.reports.wording.method_facts import facts_of, in_words, readable
from pellucid.reports.wording.numbers import bounds, percent, signed, three
from pellucid.reports.wording.plain_words import (
    diagnostics_in_words,
    first_row,
    listed,
    row_in_words,
    strongest,
)

PLUS, MINUS = (200, 90, 0), (20, 90, 180)
MOST = 5
CELL = 24  # columns of a table's cell


@renderers.add(draws="explanation")
def terminal_text(explanation: Explanation, *, colour: bool | None = None, width: int | None = None) -> str:
    """One explanation as text: the answer, the text (shaded if colour), the strongest units, the caveats.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    colour = sys.stdout.isatty() if colour is None else colour
    shown = first_row(explanation)
    spans = isinstance(shown.units, Spans)
    top = clear_spans(shown, MOST) if spans else strongest(drawn(explanation, _unit(explanation)), MOST)
    notes = [*row_in_words(explanation), *diagnostics_in_words(explanation)]
    lines = [
        Text(plain(said(explanation))),
        Text(plain(f"{readable(explanation.method)}, {_of_what(explanation)}")),
        Text(""),
        *([] if spans else [shaded(drawn(explanation, _unit(explanation)))] if colour else []),
        *([Text(plain(explanation.example.text))] if spans or not colour else []),
        Text(""),
        Text(plain(f"Strongest: {listed(top) or 'nothing, all scores are 0'}")),
        *(Text(plain(note)) for note in [in_words(facts_of(explanation.method, [explanation])), *notes]),
        *(Text(plain(f"Caution: {caveat}")) for caveat in explanation.caveats),
    ]
    return printed(lines, colour, width)


@renderers.add(draws="table")
def terminal_table(table: Table, *, colour: bool | None = None, width: int | None = None) -> str:
    """A comparison as text, as many metrics side by side as the width holds, the others below."""
    colour = sys.stdout.isatty() if colour is None else colour
    width = width or Console().width
    methods = sorted(table.methods, key=is_chance)
    first = max((len(plain(readable(method))) for method in methods), default=0) + 2
    side_by_side = max(1, (width - first) // (CELL + 2))
    names = table.metrics
    blocks = [names[start : start + side_by_side] for start in range(0, len(names), side_by_side)]
    grids = [_grid(table, methods, block) for block in blocks]
    note = Text(
        "▲ better, ▼ worse than random scores on the same texts, ○ unclear; in brackets the 95 % interval"
    )
    return printed(
        [*grids, note, *(Text(plain(f"Caution: {caveat}")) for caveat in table.caveats)], colour, width
    )


def _unit(explanation: Explanation) -> Kind:
    return "word" if explanation.units.kind == "piece" else explanation.units.kind  # type: ignore[return-value]


def said(explanation: Explanation) -> str:
    """What the model said of the text, and whether its label agrees."""
    prediction, label = explanation.prediction, explanation.example.label
    sure = f" ({percent(prediction.probability)})" if prediction.probabilities else ""
    verdict = (
        ""
        if label not in prediction.labels
        else ", as labelled"
        if label == prediction.label
        else f", wrong: the label is {label}"
    )
    return f"{explanation.model} says {prediction.label}{sure}{verdict}"


def _of_what(explanation: Explanation) -> str:
    return explained(explanation) if facts_of(explanation.method).of_class else "the same for every class"


def explained(explanation: Explanation) -> str:
    """Which number the scores explain, and its value."""
    target = explanation.target
    return f"explaining {target} ({signed(target.value)})"


def shaded(view: Explanation) -> Text:
    """The text on a background that shows each unit's score, on the scale of the text's largest."""
    scale, text = largest(view), Text()
    for number, segment in enumerate(view.example.segments):
        cursor = 0
        text.append(" ⫽ " if number else "")
        for unit in (unit for unit in units_in_order(view) if unit.segment == number):
            text.append(plain(segment[cursor : unit.start]))
            text.append(plain(segment[unit.start : unit.end]), style=_style(level(unit.score, scale)))
            cursor = unit.end
        text.append(plain(segment[cursor:]))
    return text


def _style(step: int) -> str:
    if step == 0:
        return ""
    share = abs(step) / LEVELS
    red, green, blue = (round(part * share) for part in (PLUS if step > 0 else MINUS))
    return f"rgb(255,255,255) on rgb({red},{green},{blue})"


def _grid(table: Table, methods: list[str], names: tuple[str, ...]) -> Grid:
    cells = {(cell.method, cell.metric): cell for cell in table.cells}
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    grid.add_column(Text("method"), no_wrap=True)
    for metric in names:
        better = next(cell.better for cell in table.cells if cell.metric == metric)
        grid.add_column(Text(f"{plain(readable(metric))}\n{DIRECTIONS.get(better, better)}"), min_width=CELL)
    for method in methods:
        grid.add_row(Text(plain(readable(method))), *(_cell(cells.get((method, metric))) for metric in names))
    grid.add_row()
    return grid


def _cell(cell: Cell | None) -> Text:
    if cell is None:
        return Text("–")
    mark = "" if is_chance(cell.method) else f" {VERDICTS[cell.verdict][0]}"
    return Text(f"{three(cell.value.mean)} [{bounds(cell.value)}]{mark}")


def printed(parts: list, colour: bool, width: int | None) -> str:
    """What rich makes of its parts, without blanks at the ends of lines."""
    console = Console(
        file=StringIO(),
        width=width,
        force_terminal=colour,
        color_system="truecolor" if colour else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    for part in parts:
        console.print(part)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines()) + "\n"  # type: ignore[attr-defined]
