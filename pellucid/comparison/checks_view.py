"""The checks on a page: for each what it asks, its numbers with pass or fail, its curves, and what could not be
judged.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from pellucid.base.kinds import checks, renderers
from pellucid.comparison.frontier import frontier_view
from pellucid.drawing.colours import shade
from pellucid.drawing.comparison_section import curves_view
from pellucid.drawing.curve_plot import check_plot
from pellucid.drawing.heat_map import caution_lines
from pellucid.drawing.html import Markup, element, fragment, header_row, name, scroll_box, table
from pellucid.drawing.method_facts import entry_of, readable
from pellucid.drawing.page import in_words, notebook_frame
from pellucid.drawing.table_view import is_chance, table_view
from pellucid.drawing.wording import bounds, readable_number, three
from pellucid.results.interval import CheckLine, CheckOutcome
from pellucid.results.table import Table

# How the lines of a check stand on a page or in a terminal: a grid a measure, or, of counted words, a list a method.

MARKS = {
    True: ("✓", "passes", "pl-better"),
    False: ("✗", "fails", "pl-worse"),
    None: ("○", "unclear", "pl-unclear"),
}


@dataclass(frozen=True)
class LineGrid:
    """Lines of one measure, or of several that compare with nothing.

    corner: the measure, or "method" where the columns are measures. columns: what methods are compared with, or
    measures. rows: method -> its line in each column, if it has one.
    """

    corner: str
    columns: tuple[str, ...]
    rows: Mapping[str, Mapping[str, CheckLine]]


@dataclass(frozen=True)
class WordRows:
    """Lines of one measure that name words. rows: method -> its lines, in order."""

    measure: str
    rows: Mapping[str, Sequence[CheckLine]]


def parts_of(outcome: CheckOutcome) -> list[LineGrid | WordRows]:
    """The parts of a check, in order: one for all measures that compare with nothing, and one for each of the
    others.
    """
    measures = dict.fromkeys(line.measure for line in outcome.lines)
    alone = [
        measure for measure in measures if not any(line.beside for line in outcome.lines if line.measure == measure)
    ]
    rows: dict[str, dict[str, CheckLine]] = {}
    for line in outcome.lines:
        if line.measure in alone:
            rows.setdefault(line.method, {})[line.measure] = line
    parts: list[LineGrid | WordRows] = [LineGrid("method", tuple(alone), rows)] if alone else []
    others = [measure for measure in measures if measure not in alone]
    return parts + [_part(measure, [line for line in outcome.lines if line.measure == measure]) for measure in others]


def mark_of(line: CheckLine, rule: str) -> tuple[str, str, str] | None:
    """Sign, word and style of a pass or a fail; None where the check has no rule."""
    return MARKS[line.passed] if rule else None


def _part(measure: str, lines: Sequence[CheckLine]) -> LineGrid | WordRows:
    rows: dict[str, list[CheckLine]] = {}
    for line in lines:
        rows.setdefault(line.method, []).append(line)
    columns = tuple(dict.fromkeys(line.beside for line in lines))
    if not (_is_shared(columns, rows) or _are_methods(columns, rows)):
        return WordRows(measure, rows)
    return LineGrid(measure, columns, {name: {line.beside: line for line in rows[name]} for name in rows})


def _is_shared(columns: Sequence[str], rows: Mapping[str, Sequence[CheckLine]]) -> bool:
    """Whether every method is compared with the same things, such as twins."""
    return all([line.beside for line in of_method] == list(columns) for of_method in rows.values())


def _are_methods(columns: Sequence[str], rows: Mapping[str, Sequence[CheckLine]]) -> bool:
    """Whether methods are compared with each other; the last one has no row of its own."""
    return len([column for column in columns if column not in rows]) <= 1


INTRO = (
    "Checks ask what no single text can answer. A method that fails one should not be believed for this model; one "
    "that passes is not proved right by it. Random scores stand beside the methods."
)


@renderers.add(draws="checks")
def page_checks(results: Table) -> Markup | None:
    """The checks of a comparison, one after the other; None where there are none."""
    if not results.checks:
        return None
    views = (check_view(check, _picture(check, results)) for check in results.checks)
    cards = element("div", *views, class_="pl-cards")
    return fragment(element("h3", "Checks"), element("p", INTRO, class_="pl-note"), cards)


def _picture(outcome: CheckOutcome, results: Table) -> Markup | None:
    """What is drawn of a check besides its numbers and curves."""
    pictures = {"cost": lambda: frontier_view(results), "corpus_agreement": lambda: corpus_grid(outcome)}
    draw = pictures.get(outcome.check.partition("(")[0])
    return None if draw is None else draw()


def check_view(outcome: CheckOutcome, picture: Markup | None = None) -> Markup:
    """One check; picture: what is drawn of it besides its curves."""
    return element(
        "section",
        element("h4", name(readable(outcome.check))),
        element("p", name(" ".join(part for part in (outcome.meaning, _sentence(outcome.rule)) if part))),
        *(_part_view(part, outcome.rule) for part in parts_of(outcome)),
        check_plot(outcome.curves, outcome.curve_axis) if outcome.curves else None,
        picture,
        *caution_lines(outcome.notes),
        _paper(outcome),
        class_="pl-card",
    )


def _sentence(rule: str) -> str:
    return f"A method {rule}." if rule else ""


def _paper(outcome: CheckOutcome) -> Markup:
    entry = entry_of(checks, outcome.check)
    facts = [entry.paper if entry else "", f"Settings: {in_words(outcome.settings)}"]
    summary = element("summary", "How it was measured")
    return element("details", summary, *(element("p", name(fact)) for fact in facts if fact), class_="pl-expert")


def _part_view(part: LineGrid | WordRows, rule: str) -> Markup:
    if isinstance(part, WordRows):
        return _words(part)
    head = header_row((part.corner, *map(readable, part.columns)))
    rows = (
        _row(method, [of_method.get(column) for column in part.columns], rule)
        for method, of_method in part.rows.items()
    )
    return scroll_box(table(head, rows, "pl-table pl-small"), part.corner)


def _row(method: str, lines: Sequence[CheckLine | None], rule: str) -> Markup:
    title = element("th", name(readable(method)), scope="row")
    cells = (_cell(line, rule) for line in lines)
    return element("tr", title, *cells, class_="pl-floor" if is_chance(method) else None)


def _cell(line: CheckLine | None, rule: str) -> Markup:
    if line is None:
        return element("td")
    mark = mark_of(line, rule)
    return element(
        "td",
        element("span", three(line.value.mean), class_="pl-value"),
        element("small", bounds(line.value)) if line.value.low == line.value.low else None,
        element("small", f"{mark[0]} {mark[1]}", class_=mark[2]) if mark else None,
        title=f"n = {line.n:,}",
    )


def _words(part: WordRows) -> Markup:
    rows = (
        element(
            "tr",
            element("th", name(readable(method)), scope="row"),
            element("td", name(", ".join(f"{line.beside} {readable_number(line.value.mean)}" for line in lines))),
        )
        for method, lines in part.rows.items()
    )
    return scroll_box(table(header_row(("method", part.measure)), rows, "pl-table pl-small"), part.measure)


# Data sets beside each other: for each method a triangle of correlations over their common words, shaded by size.
#
# Wu & Ong (2021), figure 3, has the same grid with the words as points.

AND = " and "
NOTE = (
    "Each square is two data sets, each explained under a model of its own: the correlation of mean sizes of scores "
    "over the words that all of them have. Agreement is no evidence of faithfulness; compare with chance."
)


def corpus_grid(outcome: CheckOutcome) -> Markup | None:
    """A grid a method; None where there are fewer than three data sets, which a table shows as well."""
    grids = []
    for method in outcome.methods:
        lines = outcome.of_method(method)
        names = data_sets(lines)
        if len(names) > 2:
            grids.append(_grid(method, names, lines))
    if not grids:
        return None
    return fragment(element("p", NOTE, class_="pl-note"), element("div", *grids, class_="pl-plots"))


def data_sets(lines: Sequence[CheckLine]) -> tuple[str, ...]:
    """The names of the data sets, from lines of all pairs in order; none where the lines are not those of pairs.

    The first name is what all of the first pairs begin with, so names may contain "and".
    """
    count = 2
    while count * (count - 1) // 2 < len(lines):
        count += 1
    beside = [line.beside for line in lines]
    for end in (place for place in range(len(beside[0])) if beside[0].startswith(AND, place)):
        first = beside[0][:end]
        names = (first, *(pair[len(first) + len(AND) :] for pair in beside[: count - 1]))
        if beside == [f"{earlier}{AND}{later}" for earlier, later in combinations(names, 2)]:
            return names
    return ()


def _grid(method: str, names: Sequence[str], lines: Sequence[CheckLine]) -> Markup:
    by_pair = dict(zip(combinations(names, 2), lines, strict=True))
    head = element("tr", element("th"), *(element("th", name(data_set), scope="col") for data_set in names[:-1]))
    rows = (
        element(
            "tr",
            element("th", name(data_set), scope="row"),
            *(_square(by_pair[earlier, data_set]) for earlier in names[:row]),
            *(element("td") for _ in names[row:-1]),
        )
        for row, data_set in enumerate(names)
        if row
    )
    caption = element(
        "figcaption",
        element("strong", name(readable(method))),
        element("small", f"{lines[0].n:,} common words"),
    )
    box = scroll_box(table(head, rows, "pl-matrix"), f"Data sets under {readable(method)}")
    return element("figure", caption, box, class_="pl-figure")


def _square(line: CheckLine) -> Markup:
    value = line.value.mean
    title = f"95 % interval {bounds(line.value)}; n = {line.n:,}"
    return element("td", three(value), class_=shade(value, 1.0) if value == value else None, title=title)


@renderers.add(draws="table")
def notebook_html_of_table(table: Table) -> str:
    """A comparison with its curves, for `_repr_html_`."""
    return notebook_frame(table_view(table), curves_view(table), page_checks(table))
