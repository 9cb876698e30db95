"""Data sets beside each other: for each method a triangle of correlations over their common words, shaded by size.

Wu & Ong (2021), figure 3, has the same grid with the words as points.
"""

from collections.abc import Sequence
from itertools import combinations

from pellucid.core.results.check_outcome import CheckLine, CheckOutcome
from pellucid.reports.markup.colours import shade
from pellucid.reports.markup.html import Markup, element, fragment, name
from pellucid.reports.markup.tables import scroll_box, table
from pellucid.reports.wording.method_facts import readable
from pellucid.reports.wording.numbers import bounds, three

AND = " and "
NOTE = (
    "Each square is two data sets, each explained under a model of its own: the correlation of mean sizes of scores over the words "
    "that all of them have. Agreement is no evidence of faithfulness; compare with chance."
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
        names = (first, *(one[len(first) + len(AND) :] for one in beside[: count - 1]))
        if beside == [f"{one}{AND}{other}" for one, other in combinations(names, 2)]:
            return names
    return ()


def _grid(method: str, names: Sequence[str], lines: Sequence[CheckLine]) -> Markup:
    by_pair = dict(zip(combinations(names, 2), lines, strict=True))
    head = element("tr", element("th"), *(element("th", name(one), scope="col") for one in names[:-1]))
    rows = (
        element(
            "tr",
            element("th", name(one), scope="row"),
            *(_square(by_pair[other, one]) for other in names[:row]),
            *(element("td") for _ in names[row:-1]),
        )
        for row, one in enumerate(names)
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
