"""Methods side by side in a terminal: one block a method, in the order of the page."""

import sys
from itertools import count

from rich.padding import Padding
from rich.text import Text

from pellucid.core.foundation.kinds import renderers
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.side_by_side import SideBySide
from pellucid.reports.markup.colours import largest
from pellucid.reports.markup.escape import plain
from pellucid.reports.page.heat_map import drawn
from pellucid.reports.page.side_by_side import by_reason, unit_of
from pellucid.reports.terminal.terminal import explained, printed, said, shaded
from pellucid.reports.wording.families import in_families
from pellucid.reports.wording.method_facts import readable
from pellucid.reports.wording.numbers import number, signed
from pellucid.reports.wording.plain_words import in_brief, parity_in_words, strongest

MOST = 5
SCALE = (
    "Numbers are shares of each method's largest score, from -1 to 1; what 1 stands for follows the method's name. "
    "Agreement of methods is no evidence of truth."
)


@renderers.add(draws="side by side")
def terminal_side_by_side(found: SideBySide, *, colour: bool | None = None, width: int | None = None) -> str:
    """Text by text, each method's strongest words, checks and caveats; then what was left out, and why.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    colour = sys.stdout.isatty() if colour is None else colour
    lines: list[Text | Padding] = []
    for of_text in found.by_text:
        lines += [*_text(of_text, colour), Text("")]
    lines += [Text(SCALE), *_left_out(found)]
    return printed(lines, colour, width)


def _text(of_text: list[Explanation], colour: bool) -> list[Text | Padding]:
    first, places = of_text[0], count(1)
    lines: list[Text | Padding] = [
        Text(plain(f"{said(first)}, {explained(first)}")),
        *(Text(plain(told)) for told in [parity_in_words(of_text)] if told),
        *([] if colour else [Text(plain(first.example.text))]),
    ]
    for family, members in in_families(of_text).items():
        lines += [Text(""), Text(family.heading, style="bold")]
        for one in members:
            lines += _block(one, next(places), colour)
    return lines


def _block(explanation: Explanation, place: int, colour: bool) -> list[Text | Padding]:
    """One method: its name and checks, the text if it is shaded, its strongest words, its caveats."""
    view = drawn(explanation, unit_of(explanation))
    scale = largest(view)
    notes = ", ".join([f"1 = {number(scale)}", *in_brief(explanation)])
    words = ", ".join(f"“{unit.text}” {signed(unit.score / scale)}" for unit in strongest(view, MOST))
    under = [
        *([shaded(view)] if colour else []),
        Text(plain(words or "nothing, all scores are 0")),
        *(Text(plain(f"Caution: {caveat}")) for caveat in explanation.caveats),
    ]
    head = Text(plain(f"{place:>2} {readable(explanation.method)}  "))
    head.append(plain(f"({notes})"), style="dim")
    return [head, *(Padding(line, (0, 0, 0, 3)) for line in under)]


def _left_out(found: SideBySide) -> list[Text]:
    if not found.left_out:
        return []
    lines = [f"   {why}: {', '.join(methods)}" for why, methods in by_reason(found.left_out).items()]
    return [
        Text(""),
        Text("Left out (add one with all,NAME)", style="bold"),
        *(Text(plain(line)) for line in lines),
    ]
