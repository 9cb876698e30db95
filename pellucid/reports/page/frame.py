"""The frame of a page: one HTML file on its own, without script, network or anything but its own style sheet."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pellucid.base.checks import at_least
from pellucid.base.files import write_text
from pellucid.reports.markup.html import Markup, document, element, fragment
from pellucid.reports.markup.style import page_style
from pellucid.reports.page.facts_view import Section, facts_view, glossary_view
from pellucid.reports.page.reading_guide import reading_guide

CAVEATS = "What these pictures and numbers do not say."


def write_report(
    path: str | Path, *, title: str, sections: Sequence[Section], guide: Markup | None = None
) -> Path:
    """Write sections, after the guide to reading them, to one HTML file, whole or not at all."""
    at_least("number of sections", len(sections), 1)
    write_text(path, page(title, sections, guide))
    return Path(path)


def page(title: str, sections: Sequence[Section], guide: Markup | None = None) -> str:
    """The whole page as text; guide: how to read it, folded under the title (None: cards with pictures and tables)."""
    contents = _contents(sections) if len(sections) > 1 else None
    head = element("header", element("h1", element("bdi", title)), guide or reading_guide(), contents)
    foot = element(
        "footer", element("p", "Written by Pellucid. This file needs no network and runs no script.")
    )
    main = element("main", head, *(_section(number, part) for number, part in enumerate(sections, 1)), foot)
    return document(title, page_style(), element("div", main, class_="pellucid pl-page"))


def facts_section(heading: str, intro: str, facts: Mapping[str, object]) -> Section:
    """Facts in order; mappings with the same keys become the rows of a table, intervals show their bounds."""
    return Section(heading, intro, fragment(facts_view(facts), glossary_view(map(str, facts))))


def caveats_section(
    caveats: Sequence[str], heading: str = "What to keep in mind", intro: str = CAVEATS
) -> Section:
    """Caveats as a list of sentences."""
    return Section(
        heading, intro, element("ul", *(element("li", text) for text in caveats), class_="pl-caveats")
    )


def _contents(sections: Sequence[Section]) -> Markup:
    links = (
        element("li", element("a", element("bdi", section.heading), href=f"#part-{number}"))
        for number, section in enumerate(sections, 1)
    )
    return element("nav", element("ol", *links), aria_label="Contents", class_="pl-contents")


def _section(number: int, section: Section) -> Markup:
    heading = element("h2", element("bdi", section.heading), id=f"part-{number}-title")
    intro = element("p", section.intro, class_="pl-lead") if section.intro else None
    labelled = f"part-{number}-title"
    return element("section", heading, intro, section.body, id=f"part-{number}", aria_labelledby=labelled)
