"""Facts in order: a list of names and values, or a small table where every value has the same parts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pellucid.reports.markup.html import Markup, definition_list, element, fragment, name, scroll_box, table
from pellucid.reports.wording.numbers import bounds, number, three
from pellucid.reports.wording.plain_words import terms_in
from pellucid.results.table import Interval


def facts_view(facts: Mapping[str, object]) -> Markup:
    """Facts as name and value; mappings that share their keys become the rows of a table."""
    rows = [value for value in facts.values() if isinstance(value, Mapping)]
    if len(rows) > 1 and len(rows) == len(facts) and all(list(row) == list(rows[0]) for row in rows):
        return _table(dict(zip(facts, rows, strict=True)))
    return definition_list((_line(key, value) for key, value in facts.items()), "pl-facts")


def in_words(value: object) -> str:
    """A value in one line: numbers with few digits, intervals with their bounds, mappings as name = value."""
    if isinstance(value, Interval):
        return f"{three(value.mean)} (95 % interval {bounds(value)})"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() else number(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {in_words(part)}" for key, part in value.items()) or "–"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(in_words(part) for part in value) or "–"
    return "–" if value is None else str(value)


def _line(key: str, value: object) -> tuple[Markup, Markup]:
    if isinstance(value, Mapping) and value:
        return name(_heading(key)), facts_view(value)
    return name(_heading(key)), name(in_words(value))


def _table(facts: Mapping[str, Mapping[str, object]]) -> Markup:
    columns = list(next(iter(facts.values())))
    head = element("tr", element("td"), *(element("th", name(_heading(key)), scope="col") for key in columns))
    rows = (
        element("tr", element("th", name(key), scope="row"), *(element("td", _cell(row[c])) for c in columns))
        for key, row in facts.items()
    )
    return scroll_box(table(head, rows, "pl-table pl-small"), "Table of facts")


def _cell(value: object) -> Markup:
    if not isinstance(value, Interval):
        return name(in_words(value))
    return fragment(element("span", three(value.mean), class_="pl-value"), element("small", bounds(value)))


def _heading(key: str) -> str:
    return str(key).replace("_", " ")


# A section of a page: a heading, a sentence or two in plain words, and what it shows.


@dataclass(frozen=True)
class Section:
    """heading and intro are plain text and will be escaped; body is finished markup."""

    heading: str
    intro: str
    body: Markup


# The terms of a part of a page, explained where the reader meets them.


def glossary_view(texts: Iterable[str]) -> Markup | None:
    """What the terms in these texts mean, folded; nothing where there is none."""
    terms = terms_in(texts)
    if not terms:
        return None
    summary = element("summary", f"What {_listed(list(terms))} mean{'s' if len(terms) == 1 else ''}")
    return element("details", summary, definition_list(terms.items(), "pl-facts"), class_="pl-glossary")


def _listed(terms: list[str]) -> str:
    quoted = [f"“{term}”" for term in terms]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)
