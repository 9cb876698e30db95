"""Lines for a terminal, made and printed by rich; without colours where the output is not a terminal."""

import os
import sys
from collections.abc import Iterable, Sequence
from io import StringIO

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from pellucid.drawing.html import plain

Line = Text | Padding
INDENT = 3


def wants_colour(colour: bool | None) -> bool:
    """The choice of the caller; None: whether the standard output is a terminal that shows colours, and may.

    NO_COLOR: the variable by which people ask programs for none (no-color.org).
    """
    if colour is not None:
        return colour
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("NO_COLOR")


def line(text: str, style: str = "") -> Text:
    """A line whose hostile characters are harmless."""
    return Text(plain(text), style=style)


def indented(texts: Iterable[str | Text]) -> list[Line]:
    """Lines that stand further to the right."""
    lines = (line(text) if isinstance(text, str) else text for text in texts)
    return [Padding(text, (0, 0, 0, INDENT)) for text in lines]


def block(title: str, facts: Iterable[str]) -> list[Line]:
    """An empty line, a title in bold, and facts under it."""
    return [Text(""), line(title, style="bold"), *indented(facts)]


def caution_lines(caveats: Iterable[str]) -> list[Text]:
    """A line for each caveat; each begins with the word Caution."""
    return [line(f"Caution: {caveat}") for caveat in caveats]


def printed(lines: Sequence[Line | Grid], colour: bool | None, width: int | None) -> str:
    """The lines as rich prints them, without blanks at their ends; colour, width: as the renderers take them."""
    file, colour = StringIO(), wants_colour(colour)
    console = Console(
        file=file,
        width=width,
        force_terminal=colour,
        color_system="truecolor" if colour else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    for one in lines:
        console.print(one)
    return "\n".join(row.rstrip() for row in file.getvalue().splitlines()) + "\n"
