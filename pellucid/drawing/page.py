"""The frame of a page, its sections, facts and texts: one HTML file without script, network or anything but its own
style sheet.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pellucid.base.checks import at_least
from pellucid.base.files import write_text
from pellucid.drawing.card import by_example, by_method, card, cards_of_places
from pellucid.drawing.emphasis import Scales, scale_key, scales_of
from pellucid.drawing.heat_map import caution_lines, colour_bar, drawable_view, small_print
from pellucid.drawing.html import (
    Markup,
    definition_list,
    document,
    element,
    fragment,
    name,
    scroll_box,
    style,
    table,
)
from pellucid.drawing.method_facts import MethodFacts, facts_of, readable
from pellucid.drawing.method_facts import in_words as method_in_words
from pellucid.drawing.reading_guide import reading_guide
from pellucid.drawing.style import fragment_style, page_style
from pellucid.drawing.wording import bounds, readable_number, terms_in, three, worst_checks_in_words
from pellucid.results.explanation import Explanation
from pellucid.results.table import Interval
from pellucid.text.reading import is_about_reading
from pellucid.text.units import Kind, Spans

# Facts in order: a list of names and values, or a small table where every value has the same parts.


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
        return f"{value:.0f}" if value.is_integer() else readable_number(value)
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


CAVEATS = "What these pictures and numbers do not say."


@dataclass(frozen=True)
class Opening:
    """What a reader sees first, right under the title.

    facts: which model, which data, how many texts, when; plain text. trust: how far the page can be believed, in a
    sentence; command: what measures it, where nothing did. texts: a few texts in colour, which stand before all
    sections; None where the page shows them anyway. first: what must be known before all else, such as that one word
    decides. title: of the page, unless the caller names it.
    """

    facts: tuple[str, ...] = ()
    trust: str = ""
    texts: Markup | None = None
    first: tuple[str, ...] = ()
    command: str = ""
    title: str = ""

    def lines(self) -> Iterable[Markup]:
        """The facts in one line, and the sentence about trust."""
        if self.facts:
            yield element("p", *(element("span", name(fact)) for fact in self.facts), class_="pl-known")
        for sentence in self.first:
            yield element("p", name(sentence), class_="pl-caution pl-believed")
        if self.trust:
            command = fragment(" ", element("span", name(self.command), class_="pl-code")) if self.command else None
            yield element("p", self.trust, command, class_="pl-believed")


NO_OPENING = Opening()


def write_report(
    path: str | Path,
    *,
    title: str,
    sections: Sequence[Section],
    guide: Markup | None = None,
    opening: Opening = NO_OPENING,
) -> Path:
    """Write sections, after the opening and the guide to reading them, to one HTML file, whole or not at all."""
    at_least("number of sections", len(sections), 1)
    write_text(path, page(title, sections, guide, opening))
    return Path(path)


def page(title: str, sections: Sequence[Section], guide: Markup | None = None, opening: Opening = NO_OPENING) -> str:
    """The whole page as text; guide: how to read it, folded under the title (None: cards with pictures and tables)."""
    contents = _contents(sections) if len(sections) > 1 else None
    heading = element("h1", element("bdi", title))
    head = element("header", heading, *opening.lines(), guide or reading_guide(), opening.texts, contents)
    foot = element("footer", element("p", "Written by Pellucid. This file needs no network and runs no script."))
    main = element("main", head, *(_section(position, part) for position, part in enumerate(sections, 1)), foot)
    return document(title, page_style(), element("div", main, class_="pellucid pl-page"))


def facts_section(heading: str, intro: str, facts: Mapping[str, object]) -> Section:
    """Facts in order; mappings with the same keys become the rows of a table, intervals show their bounds."""
    return Section(heading, intro, fragment(facts_view(facts), glossary_view(map(str, facts))))


def caveats_section(caveats: Sequence[str], heading: str = "What to keep in mind", intro: str = CAVEATS) -> Section:
    """Caveats as a list of sentences."""
    return Section(heading, intro, element("ul", *(element("li", text) for text in caveats), class_="pl-caveats"))


def written_on() -> str:
    """The day of writing, for the facts of a page: 28 November 2026; that of SOURCE_DATE_EPOCH where it is set."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    day = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now().astimezone()
    return f"{day.day} {day:%B %Y}"


def _contents(sections: Sequence[Section]) -> Markup:
    links = (
        element("li", element("a", element("bdi", section.heading), href=f"#part-{position}"))
        for position, section in enumerate(sections, 1)
    )
    return element("nav", element("ol", *links), aria_label="Contents", class_="pl-contents")


def _section(place: int, section: Section) -> Markup:
    heading = element("h2", element("bdi", section.heading), id=f"part-{place}-title")
    intro = element("p", section.intro, class_="pl-lead") if section.intro else None
    labelled = f"part-{place}-title"
    return element("section", heading, intro, section.body, id=f"part-{place}", aria_labelledby=labelled)


# Fragments for notebooks: parts of a page, with a style sheet that changes nothing outside them.

IN_NOTEBOOK = 5  # texts that are shown there of many


def notebook_frame(*parts: Markup | None) -> str:
    """These parts as one fragment, for `_repr_html_`."""
    return element("div", style(fragment_style()), *parts, class_="pellucid pl-notebook").text


def notebook_sections(sections: Iterable[Section]) -> str:
    """The sections of a page as one fragment, without their headings, for `_repr_html_`."""
    return notebook_frame(*without_headings(sections))


def without_headings(sections: Iterable[Section]) -> Iterable[Markup | None]:
    """The introductions and bodies of sections, in order."""
    return (part for section in sections for part in (small_print([section.intro]), section.body))


# Many texts on one page: one card a text, then what each method's colours mean and how far it can be believed, once.


def page_scales(explanations: Sequence[Explanation], unit: Kind = "word") -> Scales:
    """One symmetric scale a method for all heat maps of a page."""
    return scales_of(
        drawable_view(explanation, unit) for explanation in explanations if not isinstance(explanation.units, Spans)
    )


def texts_view(
    explanations: Sequence[Explanation], *, scales: Scales | None = None, unit: Kind = "word", anchor: str | None = None
) -> Markup:
    """The explanations grouped by text, in the order of their first appearance, then the key to the methods.

    scales: from `page_scales` of everything on the page (None: of these explanations). anchor: links lead to its first
    card by anchor-1, to the second by anchor-2, and so on.
    """
    scales = page_scales(explanations, unit) if scales is None else scales
    shared = shared_caveats(explanations)
    hide = frozenset(caveat for caveats in shared.values() for caveat in caveats)
    groups = by_example(explanations)
    anchors = [f"{anchor or 'text'}-{position}" for position in range(1, len(groups) + 1)]
    links = cards_of_places(groups, anchors)
    linked = anchor is not None or any(links)
    cards = (
        card(
            group,
            scales=scales,
            unit=unit,
            hide=hide,
            checks=len(groups) == 1,
            anchor=place if linked else None,
            beside=beside,
        )
        for group, place, beside in zip(groups, anchors, links, strict=True)
    )
    return fragment(
        shared_cautions(shared),
        element("div", *cards, class_="pl-cards"),
        methods_key(explanations, scales, checks=len(groups) > 1),
    )


def shared_caveats(explanations: Sequence[Explanation]) -> dict[str, tuple[str, ...]]:
    """The caveats that a method repeats for every one of several texts. The key shows them once."""
    return {
        method: tuple(
            caveat
            for caveat in group[0].caveats
            if len(group) > 1
            and not is_about_reading(caveat)
            and all(caveat in explanation.caveats for explanation in group)
        )
        for method, group in by_method(explanations).items()
    }


def shared_cautions(shared: Mapping[str, tuple[str, ...]]) -> Markup | None:
    """What is to be kept in mind of a method in every text, in one folded line above the cards."""
    cautions = {method: caveats for method, caveats in shared.items() if caveats}
    if not cautions:
        return None
    summary = element("summary", "⚠ Cautions about ", name(", ".join(map(readable, cautions))))
    return element("details", summary, *caution_lines(sum(cautions.values(), ())), class_="pl-cautions pl-shared")


def methods_key(explanations: Sequence[Explanation], scales: Scales, checks: bool) -> Markup:
    """One line a method: how to read it, the score of its full colour, its checks, and what it computes.

    checks: whether to say how the worst of all texts did in each check.
    """
    groups = by_method(explanations)
    lines = (_key_line(group, scales, checks) for group in groups.values())
    heading = element("h3", "The methods", class_="pl-heading")
    return fragment(heading, definition_list(lines, "pl-key"), glossary_view(_expert_terms(explanations)))


def _expert_terms(explanations: Sequence[Explanation]) -> set[str]:
    """The words of the facts for the expert that need an explanation."""
    names = {name for explanation in explanations for name in explanation.diagnostics}
    return {"digest", "seed"} | names | {explanation.target.output for explanation in explanations}


def _key_line(group: Sequence[Explanation], scales: Scales, checks: bool) -> tuple[Markup, Markup]:
    facts = facts_of(group[0].method, group)
    known = dict.fromkeys(scales[scale_key(view)] for view in group if scale_key(view) in scales)
    bars = [colour_bar(scale, facts.signed) for scale in known]
    worst = small_print(worst_checks_in_words(group) if checks else [])
    return name(facts.title), fragment(method_in_words(facts), " ", *bars, worst, _what_it_computes(facts))


def _what_it_computes(facts: MethodFacts) -> Markup | None:
    described = " ".join(part for part in (facts.summary, facts.paper) if part)
    if not described:
        return None
    return element("details", element("summary", "What it computes"), element("p", described))
