"""Tables that scroll in a box of their own, and lists of terms with what they mean."""

from collections.abc import Iterable

from pellucid.reports.markup.html import Markup, element

Content = str | Markup


def header_row(titles: Iterable[str]) -> Markup:
    """The first row of a table: the titles of its columns."""
    return element("tr", *(element("th", title, scope="col") for title in titles))


def table(head: Markup, rows: Iterable[Markup], css_class: str | None = None) -> Markup:
    """A table with one row of titles."""
    return element("table", element("thead", head), element("tbody", *rows), class_=css_class)


def scroll_box(content: Markup, label: str) -> Markup:
    """A box that scrolls sideways, also by keyboard; label: its name for screen readers."""
    return element("div", content, class_="pl-scroll", tabindex=0, role="region", aria_label=label)


def definition_list(entries: Iterable[tuple[Content, Content]], css_class: str) -> Markup:
    """Terms with their meanings, in order."""
    parts = (part for term, meaning in entries for part in (element("dt", term), element("dd", meaning)))
    return element("dl", *parts, class_=css_class)
