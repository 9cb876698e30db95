"""The checks on a page: for each what it asks, its numbers with pass or fail, its curves, and what could not be judged."""

from collections.abc import Sequence

from pellucid.core.foundation.kinds import checks, renderers
from pellucid.core.results.check_outcome import CheckLine, CheckOutcome
from pellucid.core.results.table import Table
from pellucid.reports.checks.corpus_grid import corpus_grid
from pellucid.reports.checks.frontier import frontier_view
from pellucid.reports.checks.layout import LineGrid, WordRows, mark_of, parts_of
from pellucid.reports.markup.html import Markup, element, fragment, name
from pellucid.reports.markup.tables import header_row, scroll_box, table
from pellucid.reports.page.curve_plot import check_plot
from pellucid.reports.page.facts_view import in_words
from pellucid.reports.page.heat_map import caution_lines
from pellucid.reports.page.table_view import is_chance
from pellucid.reports.wording.method_facts import entry_of, readable
from pellucid.reports.wording.numbers import bounds, number, three

INTRO = (
    "Checks ask what no single text can answer. A method that fails one should not be believed for this model; one that passes "
    "is not proved right by it. Random scores stand beside the methods."
)


@renderers.add(draws="checks")
def page_checks(results: Table) -> Markup | None:
    """The checks of a comparison, one after the other; None where there are none."""
    if not results.checks:
        return None
    views = (check_view(one, _picture(one, results)) for one in results.checks)
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
    return element(
        "details", summary, *(element("p", name(fact)) for fact in facts if fact), class_="pl-expert"
    )


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
            element("td", name(", ".join(f"{line.beside} {number(line.value.mean)}" for line in lines))),
        )
        for method, lines in part.rows.items()
    )
    return scroll_box(table(header_row(("method", part.measure)), rows, "pl-table pl-small"), part.measure)
