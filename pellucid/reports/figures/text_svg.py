"""A text as a picture: each word on the colour of its score, in an SVG file that needs nothing else.

Every character has one width (two for wide ones, as in Chinese), so places are known without measuring a font.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.cells import cell_len

from pellucid.core.foundation.kinds import renderers
from pellucid.core.results.explanation import Explanation
from pellucid.reports.figures.canvas import blended, hexadecimal
from pellucid.reports.markup.colours import LIGHT, largest, level
from pellucid.reports.markup.escape import plain
from pellucid.reports.markup.html import Markup, element, style
from pellucid.reports.page.heat_map import drawable_view, units_in_order
from pellucid.reports.wording.method_facts import readable

WIDTH, MARGIN, CHARACTER, LINE, BOX = 720.0, 12.0, 8.4, 28.0, 22.0  # pixels
PER_LINE = int((WIDTH - 2 * MARGIN) // CHARACTER)
NEWLINE = "\n"
NOT_IN_XML = re.compile(
    "[\ufffe\uffff]"
)  # the only ones that can come: halves of pairs and control characters are pictures
FONT = "text{font:14px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}"


@dataclass(frozen=True)
class _Word:
    """A part of the text on one line: column and line from 0, its width in characters, the step of its colour."""

    text: str
    column: int
    line: int
    width: int
    step: int


@renderers.add(draws="explanation")
def text_svg(explanation: Explanation) -> str:
    """One explanation's text, its words on the colours of their scores; of several rows the first.

    A text of a language that is read from right to left is set from right to left, word by word.
    """
    view = drawable_view(explanation)
    words = _set_in_lines(_parts(view))
    height = 2 * MARGIN + LINE * (1 + max((word.line for word in words), default=0))
    mirrored = runs_right_to_left(view.example.text)
    title = f"{readable(explanation.method)}, explaining {explanation.target}"
    svg = element(
        "svg",
        element("title", title),
        style(FONT),
        element("rect", width=WIDTH, height=height, fill=hexadecimal(LIGHT.paper)),
        *(part for word in words for part in _drawn(word, mirrored)),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH:g} {height:g}",
        width=WIDTH,
        height=height,
        role="img",
    )
    return NOT_IN_XML.sub("\ufffd", svg.text)


def _parts(view: Explanation) -> Iterator[tuple[str, int]]:
    """(text, step of its colour) in reading order: units, and what stands between them; each text begins a line."""
    scale = largest(view)
    for number, segment in enumerate(view.example.segments):
        if number:
            yield NEWLINE, 0
        cursor = 0
        for unit in (unit for unit in units_in_order(view) if unit.segment == number):
            yield from ((part, 0) for part in _pieces(segment[cursor : unit.start]))
            yield from ((part, level(unit.score, scale)) for part in _pieces(segment[unit.start : unit.end]))
            cursor = unit.end
        yield from ((part, 0) for part in _pieces(segment[cursor:]))


def _pieces(text: str) -> list[str]:
    """Words, blanks and ends of lines, none longer than a line; hostile characters are harmless."""
    clean = plain(text).replace("\t", "    ")
    return re.findall(rf"\n|[^\S\n]+|\S{{1,{PER_LINE // 2}}}", clean)


def _set_in_lines(parts: Iterable[tuple[str, int]]) -> list[_Word]:
    """Each part at its column and line."""
    words, column, line = [], 0, 0
    for text, step in parts:
        width = cell_len(text)
        if text == NEWLINE or (column and column + width > PER_LINE):
            column, line = 0, line + 1
        if text == NEWLINE or (text.isspace() and not column):
            continue
        words.append(_Word(text, column, line, width, step))
        column += width
    return words


def _drawn(word: _Word, mirrored: bool) -> Iterator[Markup]:
    """The box of a word's colour, and the word; mirrored: columns are counted from the right."""
    top, width = MARGIN + LINE * word.line, CHARACTER * word.width
    left = MARGIN + CHARACTER * word.column
    if mirrored:
        left = WIDTH - left - width
    if word.step:
        box = {"x": round(left, 1), "y": top, "width": round(width, 1), "height": BOX}
        yield element("rect", **box, fill=hexadecimal(blended(word.step)))
    if not word.text.isspace():
        centre = round(left + width / 2, 1)
        yield element(
            "text", word.text, x=centre, y=top + 16, text_anchor="middle", fill=hexadecimal(LIGHT.ink)
        )


def runs_right_to_left(text: str) -> bool:
    """Whether the first letter of a text belongs to a script that is read from right to left."""
    directions = (unicodedata.bidirectional(character) for character in text)
    return next((one for one in directions if one in ("L", "R", "AL")), "L") != "L"
