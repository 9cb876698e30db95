"""Methods side by side in a terminal: one block a method, in the order of the page."""

from itertools import count

from rich.text import Text

from pellucid.core.corpus.side_by_side import SideBySide
from pellucid.core.foundation.kinds import renderers
from pellucid.core.results.explanation import Explanation
from pellucid.reports.markup.colours import largest
from pellucid.reports.markup.escape import plain
from pellucid.reports.page.heat_map import drawable_view
from pellucid.reports.page.side_by_side import by_reason, unit_of
from pellucid.reports.terminal.explanation import answer_in_words, shaded, target_in_words
from pellucid.reports.terminal.rich_text import (
    Line,
    caution_lines,
    indented,
    line,
    printed,
    wants_colour,
)
from pellucid.reports.wording.families import in_families
from pellucid.reports.wording.method_facts import readable
from pellucid.reports.wording.numbers import number, signed
from pellucid.reports.wording.plain_words import ALL_ZERO, in_brief, parity_in_words, strongest

MOST = 5
SCALE = (
    "Each number is a score divided by the largest score of its method, from -1 to 1. The score that 1 stands for is "
    "given after the method's name. Agreement of methods is no evidence of truth."
)


@renderers.add(draws="side by side")
def terminal_side_by_side(
    methods: SideBySide, *, colour: bool | None = None, width: int | None = None
) -> str:
    """Text by text, each method's strongest words, checks and caveats; then what was left out, and why.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    colour = wants_colour(colour)
    lines: list[Line] = []
    for of_text in methods.by_text:
        lines += [*_text(of_text, colour), Text("")]
    return printed([*lines, Text(SCALE), *_left_out(methods)], colour, width)


def _text(of_text: list[Explanation], colour: bool) -> list[Line]:
    """One text: the answer, then a block a method."""
    first, row_numbers, parity = of_text[0], count(1), parity_in_words(of_text)
    lines: list[Line] = [
        line(f"{answer_in_words(first)}, {target_in_words(first)}"),
        *([line(parity)] if parity else []),
        *([] if colour else [line(first.example.text)]),
    ]
    for family, members in in_families(of_text).items():
        lines += [Text(""), line(family.heading, style="bold")]
        for explanation in members:
            lines += _block(explanation, next(row_numbers), colour)
    return lines


def _block(explanation: Explanation, row_number: int, colour: bool) -> list[Line]:
    """One method: its name and checks, the text if it is shaded, its strongest words, its caveats."""
    view = drawable_view(explanation, unit_of(explanation))
    scale = largest(view)
    notes = ", ".join([f"1 = {number(scale)}", *in_brief(explanation)])
    words = ", ".join(f"“{unit.text}” {signed(unit.score / scale)}" for unit in strongest(view, MOST))
    under = [
        *([shaded(view)] if colour else []),
        line(words or ALL_ZERO),
        *caution_lines(explanation.caveats),
    ]
    head = line(f"{row_number:>2} {readable(explanation.method)}  ")
    head.append(plain(f"({notes})"), style="dim")
    return [head, *indented(under)]


def _left_out(methods: SideBySide) -> list[Text]:
    if not methods.left_out:
        return []
    reasons = by_reason(methods.left_out).items()
    return [
        Text(""),
        line("Left out (add one with all,NAME)", style="bold"),
        *(line(f"   {reason}: {', '.join(names)}") for reason, names in reasons),
    ]
