"""Fragments for notebooks: parts of a page, with a style sheet that changes nothing outside them."""

from collections.abc import Iterable

from pellucid.reports.markup.html import Markup, element, style
from pellucid.reports.markup.style import fragment_style
from pellucid.reports.page.facts_view import Section
from pellucid.reports.page.heat_map import small_print

IN_NOTEBOOK = 5  # texts that are shown there of many


def notebook_frame(*parts: Markup | None) -> str:
    """These parts as one fragment, for `_repr_html_`."""
    return element("div", style(fragment_style()), *parts, class_="pellucid pl-notebook").text


def notebook_sections(sections: Iterable[Section]) -> str:
    """The sections of a page as one fragment, without their headings, for `_repr_html_`."""
    return notebook_frame(
        *(part for section in sections for part in (small_print([section.intro]), section.body))
    )
