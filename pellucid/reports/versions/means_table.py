"""The means over all texts as a table: the second version and each twin, beside the first version."""

from pellucid.core.corpus.difference import Difference, DifferenceMeans, TwinDifference
from pellucid.core.results.table import Interval
from pellucid.reports.markup.html import Markup, element, fragment, name
from pellucid.reports.markup.tables import header_row, scroll_box, table
from pellucid.reports.versions.wording import floor_in_words, interval_in_words, luck_in_words, two
from pellucid.reports.wording.numbers import percent

KEY = "Each number is the mean over the texts that have one; the 95 % interval (bootstrap over texts) stands below it."
TWINS = (
    "A twin is another training of the first version, so its row is the noise floor. ▲ the second version clearly differs more than "
    "this twin, on the same texts; ○ it does not."
)


def means_view(difference: Difference) -> Markup:
    """The table in a box that scrolls, and what it says about the noise floor."""
    totals = difference.totals
    columns = (
        "first version and",
        "answers changed",
        "rank correlation",
        f"overlap of {totals.k} words",
        "texts",
    )
    rows = [_row(f"the second, {difference.models[1]}", totals.means, None)]
    rows += [_row(f"its twin {twin.name}", twin.means, twin) for twin in totals.twins]
    notes = (KEY, TWINS if totals.twins else "", luck_in_words(totals))
    verdict = floor_in_words(totals)
    return fragment(
        element("p", element("strong", verdict)) if verdict else None,
        scroll_box(table(header_row(columns), rows, "pl-table"), "What changed"),
        element("p", " ".join(filter(None, notes)), class_="pl-note"),
    )


def _row(title: str, means: DifferenceMeans, twin: TwinDifference | None) -> Markup:
    exceeded = twin.is_exceeded if twin else {}
    return element(
        "tr",
        element("th", name(title), scope="row"),
        _cell(means.changed, True, exceeded.get("changed")),
        _cell(means.tau, False, exceeded.get("tau")),
        _cell(means.overlap, False, exceeded.get("overlap")),
        element("td", f"{means.n:,}", element("small", f"{means.n_tau:,} ranked")),
        class_="pl-floor" if twin else None,
    )


def _cell(interval: Interval, as_percent: bool, is_exceeded: bool | None) -> Markup:
    mean = percent(interval.mean) if as_percent else two(interval.mean)
    return element(
        "td",
        element("span", mean, class_="pl-value"),
        element("small", interval_in_words(interval, as_percent)),
        None if is_exceeded is None or interval.mean != interval.mean else _mark(is_exceeded),
    )


def _mark(is_exceeded: bool) -> Markup:
    if is_exceeded:
        return element("small", "▲ exceeded", class_="pl-worse")
    return element("small", "○ not exceeded", class_="pl-unclear")
