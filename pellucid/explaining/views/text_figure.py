"""One text as a figure: each word on the colour of its score, the strongest ones underlined."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

from pellucid.base.kinds import renderers
from pellucid.drawing.canvas import (
    NORMAL,
    SMALL,
    Palette,
    ThemeName,
    blended,
    empty_figure,
    fonts,
    hexadecimal,
    palette,
)
from pellucid.drawing.colours import LIGHT, level
from pellucid.drawing.emphasis import clear, full_colour
from pellucid.drawing.heat_map import drawable_view, units_in_order, unread_places
from pellucid.drawing.html import Markup, element, hatch_lines, plain, style
from pellucid.drawing.method_facts import facts_of, readable
from pellucid.drawing.wording import answer_with_chances, readable_number, target_name
from pellucid.results.explanation import Explanation, Scored

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINE, WORD_GAP, EDGE = 0.27, 0.055, 0.1  # inches: from line to line, between words, around everything
STEPS = 33  # of the colour bar


@dataclass(frozen=True)
class PlacedWord:
    """A word with the place of its left end, its line and its width, in inches."""

    unit: Scored
    x: float
    line: int
    width: float


@renderers.add(draws="explanation", figure="text", figure_of=("pellucid.results.explanation.Explanation",))
def text_figure(
    explanation: Explanation, *, theme: ThemeName = "light", width: float = 6.3, scale: float | None = None
) -> "Figure":
    """One text with its words on the colours of their scores, under the answer and above the key to the colours.

    theme: "light" or "dark". width: of the figure, in inches. scale: the score that gets the full colour; None: this
    text's largest. Of scores with several rows the first is drawn. A word longer than a line goes over its end.
    """
    colours, view = palette(theme), drawable_view(explanation)
    scale = full_colour(view) if scale is None else scale
    words = list(word_places(view, width - 2 * EDGE))
    n_lines = max((word.line for word in words), default=0) + 1
    height = 2 * EDGE + LINE * (n_lines + 2.2)
    figure = empty_figure(width, height, colours)
    figure.set_layout_engine("none")  # every word has its place already
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    _write(axes, EDGE, EDGE + 0.1, answer_line(explanation), size=NORMAL, colour=colours.ink)
    unread = unread_places(view)
    emphasised = {(unit.segment, unit.start) for unit in clear(view)} - unread
    for word in words:
        place = (word.unit.segment, word.unit.start)
        _draw_word(axes, word, colours, scale, place in emphasised, place in unread)
    _key(axes, explanation, colours, scale, height)
    return figure


def answer_line(explanation: Explanation) -> str:
    """The prediction, and the label where it differs."""
    wrong = f", labelled {explanation.example.label}" if explanation.is_correct is False else ""
    return f"{answer_with_chances(explanation)}{wrong}"


def text_width(text: str, size: float) -> float:
    """The width of a text in inches, at this size in points."""
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.font_manager import FontProperties

    properties = FontProperties(family=fonts(), size=size)
    return RendererAgg(1, 1, 72).get_text_width_height_descent(text, properties, False)[0] / 72


def word_places(view: Explanation, width: float) -> Iterator[PlacedWord]:
    """Each word at its place, in lines of this width; a text that runs from right to left begins at the right."""
    x, line, before = 0.0, 0, None
    for unit in units_in_order(view):
        text = view.example.segments[unit.segment]
        wide = text_width(plain(unit.text), NORMAL + 1)
        new_line = before is not None and (unit.segment != before.segment or "\n" in text[before.end : unit.start])
        if new_line or (x and x + wide > width):
            x, line = 0.0, line + 1
        elif before is not None and text[before.end : unit.start]:
            x += WORD_GAP
        place = width - x - wide if runs_right_to_left(text) else x
        yield PlacedWord(unit, place, line, wide)
        x, before = x + wide, unit


def _draw_word(axes: "Axes", word: PlacedWord, colours: Palette, scale: float, is_clear: bool, is_unread: bool) -> None:
    from matplotlib.patches import Rectangle

    x, middle = EDGE + word.x, EDGE + LINE * (word.line + 1.6)
    shade = colours.shade(word.unit.score, scale)
    axes.add_patch(Rectangle((x, middle - 0.1), word.width, 0.2, facecolor=shade, linewidth=0))
    if is_unread:  # hatched, as on a page
        corner, ink = (x, middle - 0.1), colours.ink
        axes.add_patch(
            Rectangle(corner, word.width, 0.2, fill=False, edgecolor=ink, hatch="////", linewidth=0, alpha=0.4)
        )
    _write(axes, x, middle, plain(word.unit.text), size=NORMAL + 1, colour=colours.ink)
    if is_clear:  # a second sign besides colour, as on a page: solid for the answer, dashed against it
        style = "-" if word.unit.score > 0 else (0, (2, 1.2))
        axes.plot([x, x + word.width], [middle + 0.105] * 2, color=colours.ink, linewidth=1, linestyle=style)


def _key(axes: "Axes", explanation: Explanation, colours: Palette, scale: float, height: float) -> None:
    """The colours from strongest against to strongest for, with the score of the full colour and the method."""
    from matplotlib.patches import Rectangle

    facts, y = facts_of(explanation.method, [explanation]), height - EDGE - 0.06
    low = -scale if facts.signed else 0.0
    left = f"against {explanation.target.label}" if facts.signed else "0"
    x = EDGE + text_width(left, SMALL) + 0.06
    for step in range(STEPS):
        score = low + (scale - low) * step / (STEPS - 1)
        box = Rectangle((x + 0.03 * step, y - 0.05), 0.03, 0.1, facecolor=colours.shade(score, scale), linewidth=0)
        axes.add_patch(box)
    _write(axes, EDGE, y, left, size=SMALL, colour=colours.muted)
    right = f"for {explanation.target.label}: {readable_number(scale)} · {facts.title}"
    _write(axes, x + 0.03 * STEPS + 0.06, y, right, size=SMALL, colour=colours.muted)


def _write(axes: "Axes", x: float, y: float, text: str, *, size: float, colour: str) -> None:
    axes.text(x, y, text, size=size, color=colour, va="center_baseline", family=fonts(), parse_math=False)


# A text as a picture: each word on the colour of its score, in an SVG file that needs nothing else.
#
# Every character has one width (two for wide ones, as in Chinese), so places are known without measuring a font.

WIDTH, MARGIN, CHARACTER, SVG_LINE, BOX = 720.0, 12.0, 8.4, 28.0, 22.0  # pixels
PER_LINE = int((WIDTH - 2 * MARGIN) // CHARACTER)
NEWLINE = "\n"
NOT_IN_XML = re.compile(
    "[\ufffe\uffff]"
)  # the only ones that can come: halves of pairs and control characters are pictures
FONT = "text{font:14px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}"


@dataclass(frozen=True)
class _Word:
    """A part of the text on one line: column and line from 0, its width in characters, the step of its colour, and
    whether the model cannot read it.
    """

    text: str
    column: int
    line: int
    width: int
    step: int
    is_unread: bool = False


@renderers.add(draws="explanation")
def text_svg(explanation: Explanation) -> str:
    """One explanation's text, its words on the colours of their scores; of several rows the first.

    A text of a language that is read from right to left is set from right to left, word by word.
    """
    view = drawable_view(explanation)
    words = _set_in_lines(_parts(view))
    height = 2 * MARGIN + SVG_LINE * (1 + max((word.line for word in words), default=0))
    mirrored = runs_right_to_left(view.example.text)
    title = f"{readable(explanation.method)}, explaining {target_name(explanation)}"
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


def _parts(view: Explanation) -> Iterator[tuple[str, int, bool]]:
    """(text, step of its colour, whether the model cannot read it) in reading order: units, and what stands between
    them; each text begins a line.
    """
    scale, unread = full_colour(view), unread_places(view)
    for place, segment in enumerate(view.example.segments):
        if place:
            yield NEWLINE, 0, False
        cursor = 0
        for unit in (unit for unit in units_in_order(view) if unit.segment == place):
            step, is_unread = level(unit.score, scale), (place, unit.start) in unread
            yield from ((part, 0, False) for part in _pieces(segment[cursor : unit.start]))
            yield from ((part, step, is_unread) for part in _pieces(segment[unit.start : unit.end]))
            cursor = unit.end
        yield from ((part, 0, False) for part in _pieces(segment[cursor:]))


def _pieces(text: str) -> list[str]:
    """Words, blanks and ends of lines, none longer than a line; hostile characters are harmless."""
    clean = plain(text).replace("\t", "    ")
    return re.findall(rf"\n|[^\S\n]+|\S{{1,{PER_LINE // 2}}}", clean)


def _set_in_lines(parts: Iterable[tuple[str, int, bool]]) -> list[_Word]:
    """Each part at its column and line."""
    words, column, line = [], 0, 0
    for text, step, is_unread in parts:
        width = cell_len(text)
        if text == NEWLINE or (column and column + width > PER_LINE):
            column, line = 0, line + 1
        if text == NEWLINE or (text.isspace() and not column):
            continue
        words.append(_Word(text, column, line, width, step, is_unread))
        column += width
    return words


def _drawn(word: _Word, mirrored: bool) -> Iterator[Markup]:
    """The box of a word's colour, and the word; mirrored: columns are counted from the right."""
    top, width = MARGIN + SVG_LINE * word.line, CHARACTER * word.width
    left = MARGIN + CHARACTER * word.column
    if mirrored:
        left = WIDTH - left - width
    if word.step:
        box = {"x": round(left, 1), "y": top, "width": round(width, 1), "height": BOX}
        yield element("rect", **box, fill=hexadecimal(blended(word.step)))
    if word.is_unread and not word.text.isspace():
        yield from hatch_lines(left, top, width, BOX)
    if not word.text.isspace():
        centre = round(left + width / 2, 1)
        yield element("text", word.text, x=centre, y=top + 16, text_anchor="middle", fill=hexadecimal(LIGHT.ink))


def runs_right_to_left(text: str) -> bool:
    """Whether the first letter of a text belongs to a script that is read from right to left."""
    directions = (unicodedata.bidirectional(character) for character in text)
    return next((direction for direction in directions if direction in ("L", "R", "AL")), "L") != "L"
