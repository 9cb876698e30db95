"""Shortcuts on a page, in a notebook and in a terminal: what decides by itself, first; then all that was tested."""

from collections.abc import Iterator

from rich.table import Table as Grid
from rich.text import Text

from pellucid.base.kinds import renderers
from pellucid.drawing.heat_map import caution_lines
from pellucid.drawing.html import Markup, element, fragment, header_row, name, scroll_box, table
from pellucid.drawing.page import Opening, Section, notebook_sections, written_on
from pellucid.drawing.terminal import Line, line, printed
from pellucid.drawing.terminal import caution_lines as cautions
from pellucid.results.shortcuts import Shortcut, Shortcuts

HEADING, NOTHING = "What decides by itself", "No shortcut was seen"
JUDGE = (
    "Whether it should decide is for the reader to judge: “who” is a reason to expect a person; “Sent from my phone” "
    "is none to expect a complaint."
)
GUIDE = (
    "A word, phrase, pair or kind of words is taken out of every text of a class that holds it, and the model answers "
    "again. Turn: answers of the class that are then other ones. Others: how many turn without as many other words of "
    "the same texts, of like frequency. It decides where clearly more than {least:.0f} % of the class's answers turn "
    "that do not turn without the other words: exact binomial test at 5 %, Holm's correction over all rows, weighted "
    "by what the texts that chose them promised."
)
COLUMNS = ("taken out", "class", "hold it", "turn", "95 % interval", "others", "p", "decides")


def shortcut_sections(shortcuts: Shortcuts) -> list[Section]:
    """The section that stands first on a page: the sentences where something decides; else none."""
    return [Section(HEADING, "", _sentences(shortcuts))] if shortcuts else []


def _sentences(shortcuts: Shortcuts) -> Markup:
    judge = f"{JUDGE} {shortcuts.cost}" if shortcuts.decisive else shortcuts.cost
    return fragment(
        *(element("p", element("strong", name(sentence))) for sentence in map(str, shortcuts.decisive)),
        *(element("p", name(str(association))) for association in shortcuts.associations),
        element("p", judge, class_="pl-note"),
        *caution_lines(shortcuts.caveats),
    )


@renderers.add(draws="shortcuts", sections_of=("pellucid.results.shortcuts.Shortcuts",))
def page_sections_of_shortcuts(shortcuts: Shortcuts) -> tuple[list[Section], Markup, Opening]:
    """What decides, all that was tested, how to read it, and how many texts were read."""
    nothing = fragment(*caution_lines(shortcuts.caveats))
    first = shortcut_sections(shortcuts) or [Section(NOTHING, f"{shortcuts.silence} {shortcuts.cost}", nothing)]
    rows = (element("tr", *(element("td", name(cell)) for cell in cells(shortcut))) for shortcut in shortcuts.tested)
    tested = scroll_box(table(header_row(COLUMNS), rows, "pl-table pl-small"), "What was taken out")
    every = [Section("What was tested", "", tested)] if shortcuts.tested else []
    guide = element("p", GUIDE.format(least=100 * shortcuts.least))
    return [*first, *every], guide, Opening((f"{shortcuts.n_texts:,} texts", written_on()), title=HEADING)


def cells(shortcut: Shortcut) -> Iterator[str]:
    """The numbers of one row."""
    share = shortcut.share
    yield from (shortcut.name, shortcut.label, f"{shortcut.holding:,}", f"{shortcut.turned:,} of {shortcut.n:,}")
    yield f"{100 * share.low:.0f} to {100 * share.high:.0f} %"
    yield from (f"{shortcut.matched:.1f}", "< .001" if shortcut.p < 0.001 else f"{shortcut.p:.3f}")
    yield "yes" if shortcut.decides else "no"


@renderers.add(draws="shortcuts")
def notebook_shortcuts(shortcuts: Shortcuts) -> str:
    """What decides and what was tested, for `_repr_html_`."""
    return notebook_sections(page_sections_of_shortcuts(shortcuts)[0])


@renderers.add(draws="shortcuts")
def terminal_shortcuts(shortcuts: Shortcuts, *, colour: bool | None = None, width: int | None = None) -> str:
    """The sentences, then a row for each word, phrase, pair or kind that was tested.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    lines: list[Line | Grid] = [*shortcut_lines(shortcuts), *cautions(shortcuts.caveats)]
    if shortcuts.tested:
        lines += [Text(""), _grid(shortcuts)]
    return printed(lines, colour, width)


def shortcut_lines(shortcuts: Shortcuts) -> list[Line]:
    """What stands first in a summary: what decides, or that nothing does, and the cost."""
    sentences = [line(sentence, style="bold") for sentence in shortcuts.sentences]
    judge = [line(JUDGE)] if shortcuts.decisive else []
    return [*(sentences or [line(shortcuts.silence)]), *judge, line(shortcuts.cost, style="dim")]


def _grid(shortcuts: Shortcuts) -> Grid:
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for column in COLUMNS:
        grid.add_column(line(column), justify="left" if column in COLUMNS[:2] else "right")
    for shortcut in shortcuts.tested:
        grid.add_row(*map(line, cells(shortcut)))
    return grid
