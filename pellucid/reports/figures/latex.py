"""LaTeX: tables in booktabs' style, and a text with its words on the colours of their scores."""

from collections.abc import Iterable, Sequence

from pellucid.core.corpus.class_words import ClassWords
from pellucid.core.foundation.kinds import renderers
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.table import Cell, Table
from pellucid.reports.figures.canvas import palette
from pellucid.reports.figures.words_figure import words_shown
from pellucid.reports.markup.colours import largest
from pellucid.reports.markup.escape import plain
from pellucid.reports.page.heat_map import drawable_view, units_in_order
from pellucid.reports.wording.method_facts import readable
from pellucid.reports.wording.plain_words import clear

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "\n": r"\\ ",
}
ARROWS = {"higher": r"$\uparrow$", "lower": r"$\downarrow$"}


def escaped(text: str) -> str:
    """A text in which LaTeX reads every character as itself."""
    return "".join(SPECIAL.get(character, character) for character in text)


@renderers.add(draws="table")
def latex_table(table: Table) -> str:
    """Methods x metrics with 95 % intervals; bold: better than chance beyond its interval. Needs the package booktabs."""
    better = {cell.metric: ARROWS.get(cell.better, "") for cell in table.cells}
    header = ["", *(f"{escaped(readable(metric))} {better[metric]}" for metric in table.metrics)]
    cells = {(cell.method, cell.metric): cell for cell in (*table.cells, *table.ceiling)}
    rows = (
        [escaped(readable(method)), *(_number(cells.get((method, metric))) for metric in table.metrics)]
        for method in (*table.methods, *dict.fromkeys(cell.method for cell in table.ceiling))
    )
    return _tabular("l" + "c" * len(table.metrics), header, rows)


@renderers.add(draws="class words")
def latex_class_words(words: ClassWords, *, top: int = 10) -> str:
    """The words of each class with mean scores, intervals and numbers of texts. Needs the package booktabs."""
    header = ["class", "word", "mean", r"95\,\% interval", "texts"]
    rows = []
    for label in words.labels:
        for number, word in enumerate(words_shown(words, label, top)):
            form = escaped(plain(word.word))
            interval = f"[{_three(word.low)}, {_three(word.high)}]" if word.low == word.low else "--"
            italic = rf"\textit{{{form}}}" if word.is_stop_word else form
            first = escaped(plain(label)) if number == 0 else ""
            rows.append([first, italic, _three(word.mean), interval, str(word.n_texts)])
    return _tabular("llrcr", header, rows)


@renderers.add(draws="explanation")
def latex_text(explanation: Explanation) -> str:
    r"""A text whose words stand on the colours of their scores, the strongest underlined. Needs the package xcolor."""
    view, colours = drawable_view(explanation), palette("light")
    scale = largest(view)
    emphasised = {(unit.segment, unit.start) for unit in clear(view)}
    parts, before = [], None
    for unit in units_in_order(view):
        text = view.example.segments[unit.segment]
        if before is not None and unit.segment != before.segment:
            parts.append("\\par\n")
        elif before is not None and (gap := text[before.end : unit.start]):
            parts.append("\\par\n" if "\n\n" in gap else " ")
        word = escaped(plain(unit.text))
        word = rf"\underline{{{word}}}" if (unit.segment, unit.start) in emphasised else word
        shade = colours.shade(unit.score, scale).removeprefix("#").upper()
        parts.append(word if shade == "FFFFFF" else rf"\colorbox[HTML]{{{shade}}}{{\strut {word}}}")
        before = unit
    return rf"{{\setlength{{\fboxsep}}{{1pt}}{''.join(parts)}}}" + "\n"


def _number(cell: Cell | None) -> str:
    if cell is None:
        return "--"
    value = cell.value
    mean = _three(value.mean)
    mean = rf"\textbf{{{mean}}}" if cell.verdict == "better than chance" else mean
    return f"{mean} [{_three(value.low)}, {_three(value.high)}]" if value.low == value.low else mean


def _three(value: float) -> str:
    return f"${value:.3f}$" if value == value else "--"


def _tabular(columns: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", " & ".join(header) + r" \\", r"\midrule"]
    lines += [" & ".join(row) + r" \\" for row in rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"
